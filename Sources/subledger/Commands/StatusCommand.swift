import ArgumentParser
import Pipeline

struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show the ledger's runs, archives, feeds and open breaks.",
    discussion: """
      Only reads, also while a run writes. A ledger that does not exist yet is empty.
      --format json prints all of it for programs: exit code 0, one object.

        subledger status --ledger /srv/subledger.sqlite
      """)

  @Option(help: "text for people, or json for programs.")
  var format: ObjectFormat = .text

  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  func run() throws {
    try Session(ledger).print { try $0.status(as: format.answer) }
  }
}

/// The format of an answer that is one object.
enum ObjectFormat: String, ExpressibleByArgument, CaseIterable {
  case text, json

  var answer: AnswerFormat { self == .json ? .json : .text }
}
