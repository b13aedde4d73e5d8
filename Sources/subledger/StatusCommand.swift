import ArgumentParser
import Nightly

struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "What the ledger holds: runs, archives, feeds, open breaks.",
    discussion: """
      Only reads, also while a run writes. A ledger that does not exist yet is empty.

        subledger status --ledger /srv/subledger.sqlite
      """)

  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  func run() throws {
    try Session(ledger, progress: .never).run { session in
      var options = Options()
      ledger.fill(&options)
      try StandardStreams.tell(session.night(options).status())
      return .done
    }
  }
}
