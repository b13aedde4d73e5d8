import ArgumentParser
import Pipeline

struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compare two published sets: what changed, by report, month and cell.",
    discussion: """
      Each is the folder of a set, or the number of a run of the ledger. Exit 0 when no cell \
      differs, 1 when one does.

        subledger diff last-month/reports reports
        subledger diff 41 42 --format csv --ledger /srv/subledger.sqlite
      """)

  @Argument(help: "The earlier set: its folder, or the number of its run.")
  var before: String

  @Argument(help: "The later set.")
  var after: String

  @Option(help: "text for people, csv (a row for each cell), or json (one object per line).")
  var format: AnswerFormat = .text

  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  func run() throws {
    try Session(ledger).run { session in
      try session.pipeline().compare(
        before, with: after, as: format, write: StandardStreams.put)
    }
  }
}
