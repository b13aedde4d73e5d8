import ArgumentParser
import Pipeline

struct RetractCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retract",
    abstract: "Remove an archive or one of its lines from the ledger.",
    discussion: """
      For input that should never have been delivered. Afterwards the ledger is as if it had never \
      read these lines; other archives' versions of the same events count instead. The same bytes \
      are not ingested again, except with --readmit; a log that has grown is read from its start \
      if all of it was retracted, and from where it ended if one line was. Closes and published \
      sets stay: the next run restates with the cause `retraction`, inputs.csv counts the lines as \
      skipped, and the act is recorded.

      Reads all other archives again, so they must still exist. Takes as long as a first run, and \
      as much space in the temporary folder as the ledger. Exit 64 means that there is no such \
      archive or line, or no reason, 66 that archives are missing, 75 that another run holds the \
      ledger.

        subledger retract 2026-11-20.jsonl.gz:17 --reason "a test in another currency"
      """)

  @Argument(
    help: """
      Name or SHA-256 of an archive, or all names of a log, as in inputs.csv; for one line with \
      :LINE.
      """)
  var target: String

  @Flag(help: "Let retracted lines count again.")
  var readmit = false

  @OptionGroup var places: PlaceOptions

  @Flag(help: "Do it in a copy of the ledger, and change nothing.")
  var dryRun = false

  @OptionGroup var note: NoteOptions
  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  func run() throws {
    var flags = places.given
    if dryRun { flags["dry_run"] = ["true"] }
    try Session(ledger).print(flags) { pipeline in
      try pipeline.retract(target, readmit: readmit, note.checked())
    }
  }
}
