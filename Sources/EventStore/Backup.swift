public import Domain
internal import Formats
internal import Foundation

extension Ledger {
  /// Copies the state of the ledger at one moment to a new file, also during a run.
  ///
  /// Only its owner can read the copy. It is checked by SQLite, and durable before it gets its
  /// name; a copy that fails, or that a signal of `stop` ends, leaves nothing. Returns its size in
  /// bytes.
  public func backup(
    to target: String, stop: () -> Int32 = { 0 }
  ) throws(SubledgerError) -> Int64 {
    guard let output = AtomicFile(for: target) else {
      throw backupFailure(
        "make the file \(target).part", errno,
        existing: "another backup is writing it; if none is running, remove what a failed one left")
    }
    defer { for path in LedgerFiles(of: output.path).all { unlink(path) } }
    try access("back up") { database in
      let copy = try Connection(path: output.path)
      try copyPages(of: database, to: copy, stop)
      // A single file, without a log.
      try copy.execute("pragma journal_mode = delete")
      guard try LedgerFile.damage(of: copy) == nil else {
        throw SubledgerError(
          .damagedInput, "the copy of the ledger \(path) is damaged; check the ledger, too",
          hint: "try again; if it fails again, rebuild the ledger from the archives in a new file")
      }
    }
    guard let size = output.file.size() else { throw backupFailure("read \(output.path)", errno) }
    guard output.publish() else { throw backupFailure("write \(target)", errno) }
    return size
  }

  /// Copies the state of the ledger to a new file at `path`, until `stop` returns a signal.
  ///
  /// Takes no lock that a writer would wait for.
  public func copy(to path: String, stop: () -> Int32 = { 0 }) throws(SubledgerError) {
    try access("copy the file") { try copyPages(of: $0, to: Connection(path: path), stop) }
  }

  private func copyPages(
    of database: Connection, to other: Connection, _ stop: () -> Int32
  ) throws {
    // The copy has a header before its first page, and so a hash in each page.
    try other.setPages()
    try other.execute("pragma user_version = 1")
    // The reader keeps its snapshot of the database: without it, SQLite restarts after each write.
    try database.savepoint("copy")
    defer { try? database.release("copy") }
    try database.first("select count(*) from sqlite_schema") { _ in }
    try SubledgerError.check(stop, "copying the ledger")
    try database.backup(to: other, pagesPerStep: 2048) {
      try SubledgerError.check(stop, "copying the ledger")
    }
  }

  private func backupFailure(
    _ doing: String, _ cause: Int32,
    existing: String = "a backup overwrites no file: give another name, or remove the file"
  ) -> SubledgerError {
    let isPath = [EEXIST, ENOENT, ENOTDIR].contains(cause)
    var error = SubledgerError.system(
      "back up the ledger \(path): cannot \(doing)", isPath ? .cannotCreate : .inputOutput,
      cause: cause)
    error.hint = cause == EEXIST ? existing : "check the folder of the backup and its disk"
    return error
  }
}
