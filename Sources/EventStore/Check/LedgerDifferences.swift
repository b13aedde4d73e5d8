public import Domain

extension Ledger {
  /// Compares the last run's facts with the rebuilt ones in the ledger at `path`, table by table;
  /// notes are the first rows that differ, by key.
  public func differences(from path: String) throws(SubledgerError) -> [CheckResult] {
    try access("compare two ledgers") { database in
      try database.run("attach ? as again", path)
      defer { try? database.execute("detach again") }
      var found = try Self.tables.map { try difference($0, in: database) }
      found.append(try difference("fold", "id, as_of_ms, rules, archive", in: database))
      // Rows that are due earlier, or at once, are harmless.
      found.append(try difference("due", isSubset: true, in: database))
      found.append(try difference("snapshot_due", isSubset: true, in: database))
      // `stands_until_ms` is not compared: an earlier run may have determined a better time.
      let kept = "snapshots <> 0 or details is not null"
      found.append(
        try difference(
          "reconciled", "provider, user, snapshots, details", where: kept, in: database))
      return found
    }
  }

  private func difference(
    _ table: String, _ columns: String = "*", where condition: String = "true",
    isSubset: Bool = false, in database: Connection
  ) throws -> CheckResult {
    let key = try database.primaryKey(table)
    func keys(of here: String, notIn there: String) -> String {
      """
      select \(key.joined(separator: ", ")) from (
        select \(columns) from \(here).\(table) where \(condition) except
        select \(columns) from \(there).\(table) where \(condition))
      """
    }
    var check = CheckResult(table)
    check.count = try database.count("main.\(table)")
    let missing = keys(of: "again", notIn: "main")
    let other = keys(of: "main", notIn: "again")
    // A row with other values is not missing.
    let sorts =
      isSubset
      ? [(missing, "is missing")]
      : [(other, "differs from the run's result"), ("\(missing) except \(other)", "is missing")]
    for (select, words) in sorts {
      let before = check.wrong
      try database.forEachRow("\(select) limit 10") { row in
        let names = key.enumerated().map { "\($1) \(row.text(Int32($0)))" }
        check.fail("\(names.joined(separator: ", ")) \(words)", as: .differs)
      }
      if check.wrong > before { check.wrong = try before + database.count("(\(select))") }
    }
    return check
  }

  private static let tables =
    Facts.tables
    + [
      "churn_doubt", "overlap", "rate_cell", "price_cell", "fold_feed", "break_episode",
      "decision",
    ]
}

/// The counted content of one subscription, however its lines arrived.
public struct CountedContent: Sendable, Equatable {
  /// Number of counted events.
  public var events: Int64
  /// Fingerprint of its user and of the counted events' content as text.
  public var fingerprint: Int64
}

extension Ledger {
  /// Returns the counted content of the lineages within `keys`, by key.
  ///
  /// Ledgers with the same lines return the same, however they read and numbered them.
  public func countedContent(keys: ClosedRange<Int64>) throws -> [Int64: CountedContent] {
    var contents: [Int64: CountedContent] = [:]
    try forEachLineage(keys: keys) { row, events in
      var sum = Fingerprint(seed: 6)
      sum.combine(UInt64(bitPattern: row.user))
      for event in events {
        sum.combine(UInt64(bitPattern: event.identity))
        sum.combine(UInt64(bitPattern: event.time.milliseconds))
        sum.combine(UInt64(bitPattern: event.body))
        sum.combine(UInt64(bitPattern: event.user))
        sum.combine(UInt64(bitPattern: event.created?.milliseconds ?? .min))
        sum.combine(UInt64(bitPattern: event.received?.milliseconds ?? .min))
        event.canonicalContent(words: symbols.words, original: row.original)
          .withUnsafeBytes { sum.combine($0) }
      }
      contents[row.key] = CountedContent(events: Int64(events.count), fingerprint: sum.value)
    }
    return contents
  }
}
