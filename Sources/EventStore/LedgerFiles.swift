internal import Domain
internal import Foundation

/// The files that SQLite and a run keep at the path of a ledger.
public struct LedgerFiles: Sendable {
  /// The database.
  public let database: String

  /// The files of the ledger at `path`.
  public init(of path: String) { database = path }

  /// SQLite's write-ahead log: changes that the database file does not contain yet.
  var log: String { database + "-wal" }
  /// The index of the log.
  var index: String { database + "-shm" }
  /// What one process at a time may hold.
  var lock: String { database + ".lock" }

  /// All that the ledger holds.
  public var content: [String] { [database, log] }
  /// All that lies there.
  public var all: [String] { content + [index, lock] }
  /// What SQLite may leave of a copy that is not finished.
  var ofCopy: [String] { content + [index, database + "-journal"] }
}

/// Takes the rights that everybody has from a ledger's files: they hold ids of users.
///
/// A copy, a restore or a umask may have left them open. Rights of the group stay: an operator may
/// have given them on purpose.
///
/// - Throws: a `permission` error when a file belongs to somebody else.
func closeToOthers(ledgerPath: String) throws(SubledgerError) {
  for path in LedgerFiles(of: ledgerPath).all {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & 0o007 != 0 else { continue }
    guard chmod(path, status.st_mode & 0o770) == 0 else {
      throw SubledgerError(
        .permission,
        "cannot close \(path), which everybody may use: \(String(cString: strerror(errno)))",
        hint: "let its owner run chmod o-rwx on it")
    }
  }
}
