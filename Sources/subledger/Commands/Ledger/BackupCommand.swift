import ArgumentParser
import Pipeline

struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy the ledger to a file, also while a run writes.",
    discussion: """
      The copy is the ledger at one moment, checked, readable by its owner only, and a \
      ledger itself. It never takes the place of a file.

        subledger backup /backup/$(date +%F).sqlite --ledger /srv/subledger.sqlite
      """)

  @Argument(help: "The file to be made.")
  var file: String

  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  func validate() throws {
    guard !file.isEmpty else { throw ValidationError("<file> is empty; name the file to be made") }
  }

  func run() throws {
    try Session(ledger).print { try $0.backup(to: file) }
  }
}
