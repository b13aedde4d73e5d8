import ArgumentParser
import Pipeline

struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "What the ledger holds: runs, archives, feeds, open breaks.",
    discussion: """
      Only reads, also while a run writes. A ledger that does not exist yet is empty.
      With --format json it says all of it for programs: exit code 0, one object.

        subledger status --ledger /srv/subledger.sqlite
      """)

  @Option(help: "text for people, or json for programs.")
  var format: StatusFormat = .text

  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  func run() throws {
    try Session(ledger).tell { try format == .json ? $0.statusJSON() : $0.status() }
  }
}

enum StatusFormat: String, ExpressibleByArgument, CaseIterable { case text, json }
