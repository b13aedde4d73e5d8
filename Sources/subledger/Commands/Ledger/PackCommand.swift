import ArgumentParser
import Pipeline

struct PackCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pack",
    abstract: "Write everything an auditor of a month needs into one file.",
    discussion: """
      Contains the last published report set, the configuration, price book and decisions behind \
      it, and the chain of all runs, as one tar.gz with SHA256SUMS inside. Needs only the ledger; \
      the same ledger gives the same bytes.

        subledger pack 2026-10 --out audit-2026-10.tar.gz
        subledger verify --pack audit-2026-10.tar.gz
      """)

  @Argument(help: "The month, such as 2026-10; it must end before the set's as-of.")
  var month: String

  @Option(help: "The file to write; it must not exist yet.")
  var out: String

  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  func run() throws {
    try Session(ledger).run { session in
      try session.pipeline().pack(month: month, into: out)
      return .done
    }
  }
}
