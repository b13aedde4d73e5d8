import Domain
import EventStore
import Glibc
import Logging
import Reconciliation
import Reports

extension RunPipeline {
  /// Answers one query over the documented views, or lists them and their columns.
  ///
  /// The ledger is only read, in one state, also during a run. Its packed content is unpacked with
  /// the settings and as-of of the newest published run.
  ///
  /// - Parameters:
  ///   - query: the query, or the path of a file with it that ends in `.sql`; nil for the list.
  ///   - rowsMax: maximum number of rows to write; more are a reservation.
  public func query(
    _ query: String?, as format: AnswerFormat, rowsMax: Int,
    write: @escaping ([UInt8]) throws -> Void
  ) throws -> RunResult {
    guard let query else { return try listViews(RowOutput(as: format, write: write)) }
    let sql = try Self.text(of: query)
    let output = RowOutput(as: format, write: write)
    do {
      try reading(to: "query") { ledger, _, pipeline in
        let views = try UnpackedViews(in: ledger, rules: pipeline.reconcileRules(for: ledger).fold)
        let question = try ViewQuery(sql, of: ledger)
        try views.fill(question.reads)
        try output.begin(question.columns)
        try question.forEachRow { row in
          guard output.rows < rowsMax else { throw Full() }
          try output.add(row.values)
        }
      }
      try output.finish()
      return .done
    } catch is Full {
      try output.finish()
      log.warning("the answer was cut after \(counted(rowsMax, "row")) (--max-rows)")
      return .reservations
    } catch let problem as QueryProblem {
      throw SubledgerError(
        .usage, "cannot run the query\(problem.place(in: sql)): \(problem.reason)",
        hint: "`subledger sql` without a query lists the views and their columns")
    } catch let error as SubledgerError where error.kind == .stopped(SIGALRM) {
      throw SubledgerError(
        error.kind, "the query was stopped at its time limit",
        hint: "ask for less, or allow more seconds with --timeout")
    }
  }

  /// Thrown when there are more rows than requested.
  private struct Full: Error {}

  private static func text(of query: String) throws(SubledgerError) -> String {
    guard query.hasSuffix(".sql") else { return query }
    let bytes = try fileContents(of: "the query", at: query, givenWith: "`subledger sql`")
    return String(decoding: bytes, as: UTF8.self)
  }

  private func listViews(_ output: RowOutput) throws -> RunResult {
    try output.begin(["view", "column", "type", "unit", "description"])
    for view in ViewDefinition.all {
      let columns = view.columns.map { [$0.name, $0.type, $0.unit ?? "", $0.description] }
      for row in [["", "", "", view.description]] + columns {
        try output.add(([view.name] + row).map(LedgerValue.text))
      }
    }
    try output.finish()
    return .done
  }
}

extension QueryProblem {
  /// Returns line and column in `sql`, for people; empty when SQLite reports no position.
  func place(in sql: String) -> String {
    guard let offset else { return "" }
    let lines = sql.utf8.prefix(offset)
      .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return " at line \(lines.count), column \((lines.last?.count ?? 0) + 1)"
  }
}
