import ArgumentParser
import Pipeline

struct SQLCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sql",
    abstract: "Query the ledger in SQL, over documented views.",
    discussion: """
      Without a query, lists the views and their columns. Only reads, also while a run writes: \
      a query that writes, attaches or reads another table is refused.

        subledger sql "select sum(net_usd_micros) from v_revenue_daily"
        subledger sql cohorts.sql --format table
      """)

  @Argument(help: "A query, or a file with one that ends in .sql.")
  var query: String?

  /// The formats of rows; a table is their text.
  enum RowFormat: String, ExpressibleByArgument, CaseIterable { case csv, json, table }

  @Option(help: "Format of rows: csv, json (one object per line) or table.")
  var format: RowFormat = .csv

  @Option(help: "Write at most this many rows; exit 1 if there are more.")
  var maxRows = 1_000_000

  @Option(help: "Seconds after which the query is stopped; exit 142.")
  var timeout: UInt32 = 600

  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  func validate() throws {
    guard maxRows > 0, timeout > 0 else {
      throw ValidationError("--max-rows and --timeout must be at least 1")
    }
  }

  func run() throws {
    try Session(ledger).run { session in
      session.stop.raiseAlarm(after: timeout)
      return try session.pipeline().query(
        query, as: AnswerFormat(rawValue: format.rawValue) ?? .text, rowsMax: maxRows,
        write: StandardStreams.put)
    }
  }
}
