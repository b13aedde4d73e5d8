import ArgumentParser
import Pipeline

struct DrillCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drill",
    abstract: "Corrupt a copy of the ledger and measure how much the checks detect.",
    discussion: """
      Removes, repeats, delays, swaps and corrupts events in a copy of the ledger, folds and \
      reconciles it, and prints recall and precision of every break code. The ledger itself \
      only keeps the result, which the next run publishes as drill.csv and on the page. \
      Equal seeds damage the same events.

        subledger drill --seed 7 --events 500 --ledger /srv/subledger.sqlite

      The default of --as-of is the newest run's.
      """)

  @Option(help: "Equal seeds damage the same events in the same way.")
  var seed: UInt64 = 1

  @Option(
    parsing: .unconditional, help: "Maximum number of damaged events, each of another user.")
  var events = 200

  @Option(help: "Folder for drill.csv; created if missing. (default: only print)")
  var out: String?

  @Option(help: "Business time of both reconciliations: RFC 3339, or a date.")
  var asOf: String?

  @Option(help: "Price book (CSV) for charges whose provider sends no money. (default: none)")
  var prices: String?

  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  func run() throws {
    let flags = ["as_of": asOf, "prices": prices].compactMapValues { $0.map { [$0] } }
    try Session(ledger).print(flags) { pipeline in
      if let out { try DrillResult.requireNoSet(in: out) }
      let result = try pipeline.drill(seed: seed, events: events)
      if let out { try result.write(into: out) }
      return result.text
    }
  }
}
