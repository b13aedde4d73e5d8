import ArgumentParser
import Pipeline

struct EraseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "erase",
    abstract: "Take a person's id out of the ledger; every number stays.",
    discussion: """
      A random pseudonym stands in the id's place, in events, snapshots, breaks, decisions and \
      acts, and nothing of the id is left in the file. Later events of the person are put to the \
      pseudonym, too: the ledger keeps a salted hash by which it knows the id again. \
      The act is recorded without the id, and `subledger verify` holds afterwards.

      Archives, backups, packs and published sets are not touched. Needs as much free space as the \
      ledger takes, in its folder and in the temporary one. Running it again does no harm. Exit 66 \
      means that the ledger has no such user, 75 that another run or a reader holds the ledger.

        subledger erase QON_a1b2 --reason "erasure request 4711"
      """)

  @Argument(help: "The user id as the provider writes it, or the app's own (customer_id).")
  var user: String

  @OptionGroup var note: NoteOptions
  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  func run() throws {
    try Session(ledger).print { pipeline in
      try pipeline.erase(user: user, note.checked())
    }
  }
}
