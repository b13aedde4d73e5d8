import ArgumentParser
import Pipeline

struct ReopenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reopen",
    abstract: "Open a closed month again.",
    discussion: """
      The close stays in the ledger with the reason why it no longer stands. Later runs compare \
      the month with the last publication, as they do with any month that is not closed.

        subledger reopen 2026-10 --reason "refunds of FIN-1207 belong in October"
      """)

  @Argument(help: "The month, such as 2026-10.")
  var month: String

  @OptionGroup var note: NoteOptions
  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  func run() throws {
    try Session(ledger).print { pipeline in
      try pipeline.reopen(month: month, note.checked())
    }
  }
}
