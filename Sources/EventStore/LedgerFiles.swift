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
