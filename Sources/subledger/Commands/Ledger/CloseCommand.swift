import ArgumentParser
import Pipeline

struct CloseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "close",
    abstract: "Freeze the numbers of a month as the newest run published them.",
    discussion: """
      The month must be complete: no later delivery is expected to change its rows. Settings are \
      those of the newest run. Later runs show the current numbers, and bridge them from the \
      closed ones in restatements.csv, with the cause of every difference. Exit 75 means that the \
      month is not complete yet.

        subledger close 2026-10 --who j.doe
      """)

  @Argument(help: "The month, such as 2026-10.")
  var month: String

  @Flag(help: "Freeze rows that can still change as they are; needs --reason.")
  var force = false

  @OptionGroup var note: NoteOptions
  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  func run() throws {
    try Session(ledger).print { pipeline in
      try pipeline.close(month: month, note.checked(), isForced: force)
    }
  }
}
