import ArgumentParser
import Pipeline

struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy the ledger to a file, also while a run writes.",
    discussion: """
      The copy is a checked, working ledger as of one moment, readable by its owner only. It never \
      overwrites a file.

        subledger backup /backup/$(date +%F).sqlite --ledger /srv/subledger.sqlite
      """)

  @Argument(help: "The file to create.")
  var file: String

  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  func run() throws {
    try Session(ledger).print { try $0.backup(to: file) }
  }
}
