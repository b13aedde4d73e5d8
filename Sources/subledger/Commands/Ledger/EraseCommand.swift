import ArgumentParser
import Pipeline

struct EraseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "erase",
    abstract: "Remove a person's id from the ledger; all numbers stay.",
    discussion: """
      Replaces the id with a random pseudonym in events, snapshots, breaks, decisions and acts; \
      nothing of the id remains in the file. Later events of the person get the same pseudonym: \
      the ledger keeps a salted hash to recognize the id. The act is recorded without the id, and \
      `subledger verify` holds afterwards.

      Does not change archives, backups, packs and published sets. Needs as much free space as the \
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
