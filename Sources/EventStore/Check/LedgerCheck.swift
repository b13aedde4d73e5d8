public import Domain

/// The result of one check of a ledger.
public struct LedgerCheck: Sendable, Equatable {
  /// The checked item: a table, or `file`, `schema`, `chain`.
  public let name: String
  /// Number of rows that were checked.
  public internal(set) var rows: Int64 = 0
  /// Number of problems.
  public internal(set) var wrong: Int64 = 0
  /// The first problems, without ids of customers.
  public private(set) var problems: [String] = []

  init(_ name: String) { self.name = name }

  mutating func fail(_ problem: String) {
    wrong += 1
    if problems.count < Self.shown { problems.append(problem) }
  }

  private static let shown = 20
}

extension Ledger {
  /// Reads and checks every row of the ledger: the file by SQLite's own checks, rows by their check
  /// columns and keys, runs by their chain.
  ///
  /// Facts and breaks of the last run are checked by computing them again, archives by their bytes.
  /// Ends after the current check when `stop` returns a signal.
  public func check(stop: () -> Int32 = { 0 }) throws(SubledgerError) -> [LedgerCheck] {
    try access("check every row") { database in
      var checks = [
        Self.guarded("file", in: database, Self.checkFile),
        Self.guarded("schema", in: database, Self.checkSchema),
      ]
      guard checks.allSatisfy({ $0.wrong == 0 }) else { return checks }
      let rows = RowChecks(words: symbols.words)
      for (name, look) in rows.all + [("chain", { try ChainCheck($0).run(&$1) })] {
        try SubledgerError.check(stop, "checking the ledger")
        checks.append(Self.guarded(name, in: database, look))
      }
      return checks
    }
  }

  /// Runs a check; if SQLite aborts it because the file is damaged, that is a problem of the check.
  private static func guarded(
    _ name: String, in database: Connection, _ look: (Connection, inout LedgerCheck) throws -> Void
  ) -> LedgerCheck {
    var check = LedgerCheck(name)
    do {
      try look(database, &check)
    } catch {
      check.fail("\(name) cannot be read: \((error as? SubledgerError)?.message ?? "\(error)")")
    }
    return check
  }

  private static func checkFile(_ database: Connection, _ check: inout LedgerCheck) throws {
    check.rows = try database.first("pragma page_count") { $0.int64(0) } ?? 0
    try database.forEachRow("pragma integrity_check(20)") { row in
      if row.text(0) != "ok" { check.fail("SQLite: \(row.text(0))") }
    }
    guard check.wrong == 0 else { return }
    try database.forEachRow("pragma foreign_key_check") { row in
      check.fail("a row of \(row.text(0)) refers to a row of \(row.text(2)) that is missing")
    }
  }

  private static func checkSchema(_ database: Connection, _ check: inout LedgerCheck) throws {
    let expected = try Schema.fresh()
    let found = try Schema.objects(of: database)
    check.rows = Int64(expected.count)
    for (name, sql) in expected where found[name] != sql {
      check.fail(found[name] == nil ? "\(name) is missing" : "\(name) is defined differently")
    }
    for name in found.keys.sorted() where expected[name] == nil {
      check.fail("\(name) is not part of a ledger")
    }
  }
}
