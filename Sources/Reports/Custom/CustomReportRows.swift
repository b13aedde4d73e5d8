internal import Domain
public import EventStore

extension CustomReport {
  /// The folder of custom reports in a set, so that their names cannot clash with others.
  static let folder = "own"

  /// Whether a file of a set, by its path, is a custom report.
  public static func isFile(_ path: String) -> Bool { path.hasPrefix("\(folder)/") }

  /// The report's query, which must return the columns of its header.
  ///
  /// - Throws: `SubledgerError` of kind `configuration` with SQLite's message and the line.
  public func query(of ledger: Ledger) throws -> ViewQuery {
    do {
      let query = try ViewQuery(text, of: ledger, isRepeatable: true)
      guard query.columns == columns.map(\.name) else {
        let (header, found) = (columns.map(\.name), query.columns.map { $0.shown() })
        throw Self.wrong(
          name, 0,
          "its columns are \(header.joined(separator: ", ")), and those of the query "
            + found.joined(separator: ", "))
      }
      return query
    } catch let problem as QueryProblem {
      throw wrong(problem)
    }
  }

  /// Writes the report's file into `folder`, with rows sorted by key.
  ///
  /// - Throws: `SubledgerError` of kind `configuration` for a value that does not fit its column's
  ///   type, for two rows with the same key, and for a query that takes too long.
  public func write(
    _ query: ViewQuery, from ledger: Ledger, plan: ReportPlan, into folder: String
  ) throws -> WrittenReports {
    try makeFolders("\(folder)/\(Self.folder)")
    try fill(query, in: ledger, plan)
    // As printed: an absent text is empty, and others may be escaped.
    try ledger.define("cell_text", cellText)
    let keys = columns.filter(\.isKey).map {
      $0.type == "string" ? "cell_text(coalesce(\"\($0.name)\", ''))" : "\"\($0.name)\""
    }.joined(separator: ", ")
    try ledger.rows(sql: "select 1 from temp.own group by \(keys) having count(*) > 1 limit 1") {
      _ in throw Self.wrong(name, 0, "two rows have the same key")
    }
    let definition = ReportDefinition(
      name: "\(Self.folder)/\(name)", query: Array("select * from temp.own order by \(keys)".utf8),
      columns: columns)
    let writer = TableWriter(
      definition, plan: plan, labels: try Labels(of: ledger, in: plan.dialect), into: folder)
    try writer.write(from: ledger)
    return writer.written
  }

  private func fill(_ query: ViewQuery, in ledger: Ledger, _ plan: ReportPlan) throws {
    let context = ReportContext(ledger: ledger, plan: plan)
    try context.table("own", columns.map { "\"\($0.name)\"" }.joined(separator: ", "))
    var row = 0
    do {
      try query.forEachRow {
        try plan.checkStop()
        row += 1
        let values = $0.values
        for (index, value) in values.enumerated() where value != .null {
          guard kinds[index].fits(value) else {
            throw Self.wrong(
              name, 0,
              "\(columns[index].name) of row \(row) is not \(kinds[index].rawValue)")
          }
        }
        try context.insert("own", values)
      }
    } catch let problem as QueryProblem {
      throw wrong(problem)
    }
  }

  private func wrong(_ problem: QueryProblem) -> SubledgerError {
    let before = problem.offset.map { text.utf8.prefix($0).count { $0 == UInt8(ascii: "\n") } + 1 }
    return Self.wrong(name, before ?? 0, problem.reason.shown())
  }
}
