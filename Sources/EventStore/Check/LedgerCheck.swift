public import Domain

extension Ledger {
  /// Reads and checks every row of the ledger: the file by SQLite's own checks, rows by their check
  /// columns and keys, runs by their chain.
  ///
  /// Facts and breaks of the last run are checked by computing them again, archives by their bytes.
  /// Ends after the current check when `stop` returns a signal.
  public func check(stop: () -> Int32 = { 0 }) throws(SubledgerError) -> [CheckResult] {
    try access("check every row") { database in
      var checks = [
        Self.guarded("file", unit: "pages", in: database, Self.checkFile),
        Self.guarded("schema", unit: "definitions", in: database, Self.checkSchema),
      ]
      guard checks.allSatisfy({ $0.outcome == .holds }) else { return checks }
      for (name, body) in RowChecks(words: symbols.words).all {
        try SubledgerError.check(stop, "checking the ledger")
        checks.append(Self.guarded(name, in: database, body))
      }
      try SubledgerError.check(stop, "checking the ledger")
      checks.append(
        Self.guarded("chain", unit: "runs", in: database) { try ChainCheck($0).run(&$1) })
      return checks
    }
  }

  /// Runs a check; if SQLite aborts it because the file is damaged, that is a problem of the check.
  private static func guarded(
    _ name: String, unit: String = "rows", in database: Connection,
    _ body: (Connection, inout CheckResult) throws -> Void
  ) -> CheckResult {
    var check = CheckResult(name, unit: unit)
    do {
      try body(database, &check)
    } catch {
      check.fail("\(name) cannot be read: \((error as? SubledgerError)?.message ?? "\(error)")")
    }
    return check
  }

  private static func checkFile(_ database: Connection, _ check: inout CheckResult) throws {
    check.count = try database.first("pragma page_count") { $0.int64(0) } ?? 0
    try database.forEachRow("pragma integrity_check(20)") { row in
      if row.text(0) != "ok" { check.fail("SQLite: \(row.text(0))") }
    }
    guard check.outcome == .holds else { return }
    try database.forEachRow("pragma foreign_key_check") { row in
      check.fail("a row of \(row.text(0)) refers to a row of \(row.text(2)) that is missing")
    }
  }

  private static func checkSchema(_ database: Connection, _ check: inout CheckResult) throws {
    let expected = try Schema.fresh()
    let found = try Schema.objects(of: database)
    check.count = Int64(expected.count)
    for (name, sql) in expected where found[name] != sql {
      check.fail(found[name] == nil ? "\(name) is missing" : "\(name) is defined differently")
    }
    for name in found.keys.sorted() where expected[name] == nil {
      check.fail("\(name) is not part of a ledger")
    }
  }
}
