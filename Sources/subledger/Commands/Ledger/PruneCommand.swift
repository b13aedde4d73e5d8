import ArgumentParser
import Pipeline

struct PruneCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune",
    abstract: "Remove what only old as-ofs need, and make the ledger smaller.",
    discussion: """
      Removes snapshots and versions of published rows that newer ones replaced before the month \
      began, and the checksums of sets as of earlier times. Events, totals, breaks, closed months \
      and everything that runs as of the month or later need stay: these runs can still be \
      reproduced byte for byte. Afterwards, runs and --as-of before the month are refused. The act \
      is recorded, and `subledger verify` holds.

      Needs as much free space as the ledger takes, in its folder and in the temporary one. Exit \
      75 means that another run or a reader holds the ledger.

        subledger prune --before 2025-01 --dry-run
        subledger prune --before 2025-01
      """)

  @Option(help: "The first month that is kept whole, such as 2025-01.")
  var before: String

  @Flag(help: "Print what would be removed, and change nothing.")
  var dryRun = false

  @OptionGroup var note: NoteOptions
  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  func run() throws {
    try Session(ledger).print(dryRun ? ["dry_run": ["true"]] : [:]) { pipeline in
      try pipeline.prune(before: before, note.checked())
    }
  }
}
