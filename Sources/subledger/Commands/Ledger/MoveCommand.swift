import ArgumentParser
import Pipeline

struct MoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Move events from the ledger to Spark's lake, or back.",
    discussion: """
      The next run with that engine publishes the same bytes as without the move. See \
      docs/scaling.md.

        subledger move --engine spark --lake /srv/lake
        subledger move --engine embedded --lake /srv/lake
      """)

  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  func run() throws {
    try Session(ledger).print { try $0.move() }
  }
}
