internal import GRDB

/// Savepoints by statements that GRDB does not watch.
///
/// A commit that fails on a full or broken disk leaves its transaction open, to be tried again or
/// rolled back. GRDB's observers, of which the ledger has none, take it for ended and stop a debug
/// build.
extension Database {
  /// Begins what `release` keeps and `rollBack` undoes.
  func savepoint(_ name: String) throws {
    try RawStatement(cachedIn: self, "savepoint \(name)").run()
  }

  /// Keeps what was done since the savepoint; the outermost one commits.
  func release(_ name: String) throws {
    try RawStatement(cachedIn: self, "release \(name)").run()
  }

  /// Undoes what was done since the savepoint, and ends it.
  func rollBack(_ name: String) throws {
    try RawStatement(cachedIn: self, "rollback to \(name)").run()
    try release(name)
  }
}
