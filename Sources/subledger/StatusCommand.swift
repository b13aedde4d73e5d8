import ArgumentParser
import Nightly

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
    try Session(ledger, progress: .never).run { session in
      var options = Options()
      ledger.fill(&options)
      let night = try session.night(options)
      try StandardStreams.tell(format == .json ? night.statusJSON() : night.status())
      return .done
    }
  }
}

enum StatusFormat: String, ExpressibleByArgument, CaseIterable { case text, json }
