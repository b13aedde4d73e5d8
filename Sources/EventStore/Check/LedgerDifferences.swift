public import Domain

/// What of one table two ledgers do not have alike.
public struct TableDifference: Sendable, Equatable {
  /// The table.
  public var table: String
  /// Rows of this ledger's table.
  public var rows: Int64
  /// How many rows differ.
  public var wrong: Int64
  /// The first rows that differ, by their key.
  public var differing: [String]
}

extension Ledger {
  /// Compares the last run's facts with the rebuilt ones in the ledger at `path`.
  public func differences(from path: String) throws(SubledgerError) -> [TableDifference] {
    try access("compare two ledgers") { database in
      try database.run("attach ? as again", path)
      defer { try? database.execute("detach again") }
      var found = try Self.tables.map { try difference($0, in: database) }
      found.append(try difference("fold", "id, as_of_ms, rules, archive", in: database))
      // Rows that are due earlier, or at once, are harmless.
      found.append(try difference("due", isSubset: true, in: database))
      found.append(try difference("snapshot_due", isSubset: true, in: database))
      // How long a result stands may have been known better before.
      let kept = "snapshots <> 0 or rest is not null"
      found.append(
        try difference("reconciled", "provider, user, snapshots, rest", where: kept, in: database))
      return found
    }
  }

  private func difference(
    _ table: String, _ columns: String = "*", where condition: String = "true",
    isSubset: Bool = false, in database: Connection
  ) throws -> TableDifference {
    let key = try database.primaryKey(table)
    func keys(of here: String, notIn there: String) -> String {
      """
      select \(key.joined(separator: ", ")) from (
        select \(columns) from \(here).\(table) where \(condition) except
        select \(columns) from \(there).\(table) where \(condition))
      """
    }
    func count(_ rows: String) throws -> Int64 {
      try database.first("select count(*) from \(rows)") { $0.int64(0) } ?? 0
    }
    var found = TableDifference(
      table: table, rows: try count("main.\(table)"), wrong: 0, differing: [])
    let missing = keys(of: "again", notIn: "main")
    let other = keys(of: "main", notIn: "again")
    // A row that is another one is not missing.
    let sorts =
      isSubset
      ? [(missing, "is missing")]
      : [(other, "differs from the run's result"), ("\(missing) except \(other)", "is missing")]
    for (select, words) in sorts {
      let before = found.differing.count
      try database.forEachRow("\(select) limit 10") { row in
        let names = key.enumerated().map { "\($1) \(row.text(Int32($0)))" }
        found.differing.append("\(names.joined(separator: ", ")) \(words)")
      }
      if found.differing.count > before { found.wrong += try count("(\(select))") }
    }
    return found
  }

  private static let tables =
    Facts.tables
    + [
      "churn_doubt", "overlap", "rate_cell", "price_cell", "fold_feed", "break_episode",
      "decision",
    ]
}
