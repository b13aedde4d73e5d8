public import Domain
internal import Foundation

/// The files that SQLite and a run keep at the path of a ledger.
public struct LedgerFiles: Sendable {
  /// The database.
  public let database: String

  /// Creates the file names of the ledger at `path`.
  public init(of path: String) { database = path }

  /// SQLite's write-ahead log: changes that the database file does not contain yet.
  var log: String { database + "-wal" }
  var index: String { database + "-shm" }
  /// The lock file, which one process at a time may hold.
  var lock: String { database + ".lock" }

  /// The files with the ledger's content.
  public var content: [String] { [database, log] }
  /// All files at the path; the journal exists only while SQLite copies a ledger.
  public var all: [String] { content + [index, lock, database + "-journal"] }

  /// Refuses links, pipes, devices and hard links in place of the ledger's files: opening one could
  /// wait for ever, and writing to it would change another file.
  func requireOwn() throws(SubledgerError) {
    for path in all {
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      let isFile = status.st_mode & S_IFMT == S_IFREG
      guard !isFile || status.st_nlink > 1 else { continue }
      throw SubledgerError(
        .damagedInput,
        "cannot open the ledger \(database): \(path) "
          + (isFile ? "has a second name (a hard link)" : "is not a regular file"),
        hint: path == database
          ? "give the path of a ledger, or of a new file" : "check what it is, and remove it")
    }
  }
}

/// Removes everybody's access to a ledger's files, because they contain ids of users.
///
/// A copy, a restore or a umask may have left them open. The group's access stays: an operator may
/// have granted it on purpose.
///
/// - Throws: a `permission` error when a file belongs to another user.
func closeToOthers(ledgerPath: String) throws(SubledgerError) {
  for path in LedgerFiles(of: ledgerPath).all {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & 0o007 != 0 else { continue }
    guard fchmodat(AT_FDCWD, path, status.st_mode & 0o770, AT_SYMLINK_NOFOLLOW) == 0 else {
      throw SubledgerError(
        .permission,
        "cannot keep other users from \(path): \(String(cString: strerror(errno)))",
        hint: "have its owner run chmod o-rwx on it")
    }
  }
}

extension Ledger {
  /// Returns the size of the file in bytes, without its log.
  public func fileSize() throws(SubledgerError) -> Int64 {
    try first(
      "read the size of the file",
      "select page_count * page_size from pragma_page_count, pragma_page_size"
    ) { $0.int64(0) } ?? 0
  }

  /// Empties the write-ahead log.
  ///
  /// - Throws: `SubledgerError` of kind `tryAgain` while another process reads an older state.
  public func emptyLog() throws(SubledgerError) {
    guard try checkpoint() else {
      throw SubledgerError(
        .tryAgain, "cannot empty the log of the ledger \(path): a reader holds it",
        hint: "wait until that reader is done, and run the command again")
    }
  }

  /// Rewrites the ledger without free space, and so without anything deleted or overwritten.
  public func vacuum() throws(SubledgerError) {
    try access("rewrite the ledger") { try $0.execute("vacuum") }
    try emptyLog()
  }
}
