import ArgumentParser
import Pipeline

struct IngestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ingest",
    abstract: "Only read archives and snapshots into the ledger.",
    discussion: """
      Useful while archives arrive during the day: the next run need not read them.

        subledger ingest --archives /srv/webhooks/2026-11-20
      """)

  @OptionGroup(title: "Input") var input: InputOptions
  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  func run() throws {
    try Session(ledger, drawsProgress: true).run { session in
      try session.reporting(session.pipeline(input.given)) { try $0.ingest() }
    }
  }
}
