internal import CMalloc
internal import Formats
internal import Foundation
public import Domain

/// All received events, each once, in one SQLite file.
///
/// There is one writer at a time (see `LedgerLock`). A ledger is used from one task at a time and
/// is not sendable. To read on several cores, open it several times. Its methods throw
/// `SubledgerError`, and those that call a body also whatever that throws.
public final class Ledger {
  /// The purpose of opening the ledger.
  public enum Mode: Sendable {
    /// Reading and writing; a missing file is created, readable by its owner only.
    case readWrite
    /// Reading only.
    case readOnly
  }

  /// Path of the file.
  public let path: String
  /// The lock for writing, which must still be held when a run ends; nil for copies.
  public var lock: LedgerLock?
  /// The words of the symbols in everything that the ledger returns.
  public internal(set) var symbols: StringTable
  /// Returns the signal that asked to stop, 0 if there is none, whereupon the ledger throws
  /// `stopped` in the middle of its work; nil while it must not stop.
  public var stop: (@Sendable () -> Int32)? {
    get { connection.stop }
    set { connection.stop = newValue }
  }
  /// Number of words in the file; later ones are still to be written.
  private var savedWords: Int
  var lastArchive: Int32 = 0
  /// The run of the archive that is read again; nil for new archives.
  var replayedRun: Int64?
  /// The error of a failed rollback: the ledger's state is undefined, so all later calls fail.
  private var failedUndo: SubledgerError?
  private let connection: Connection

  private init(path: String, connection: Connection, symbols: StringTable) {
    self.path = path
    self.connection = connection
    self.symbols = symbols
    savedWords = symbols.words.count
  }

  /// Opens the ledger at `path`, and migrates it if it is opened for writing.
  public static func open(path: String, mode: Mode) throws(SubledgerError) -> Ledger {
    limitFreedMemory
    errno = 0
    do {
      let connection = try LedgerFile.open(path: path, mode: mode)
      let symbols = try LedgerFile.explained(path) { try storedSymbols(connection, path: path) }
      return Ledger(path: path, connection: connection, symbols: symbols)
    } catch let error as SubledgerError {
      throw error
    } catch let error as SQLiteError {
      throw SubledgerError(error, path: path)
    } catch {
      throw SubledgerError(
        .inputOutput, "cannot open the ledger \(path): \(type(of: error))", hint: "check the file")
    }
  }

  /// Returns large blocks to the system when they are freed: growing arrays would leave gaps as
  /// large as the rest.
  private static let limitFreedMemory: Void = {
    mallopt(M_MMAP_THRESHOLD, 4 << 20)
    mallopt(M_TRIM_THRESHOLD, 8 << 20)
  }()

  /// Creates an empty ledger in memory.
  public static func inMemory() throws -> Ledger {
    let connection = try Connection()
    try Schema.migrate(connection, from: 0, by: Schema.migrations)
    return Ledger(path: ":memory:", connection: connection, symbols: StringTable())
  }

  /// Returns the symbol of `word` if the ledger has the word; 0 for the empty word.
  public func symbol(_ word: String) -> StringID? { symbols.find(word) }

  /// The file and the folder to sync to make everything durable; a missing file needs no sync.
  public var logPlaces: [String] {
    [LedgerFiles(of: path).log, URL(fileURLWithPath: path).deletingLastPathComponent().path]
  }

  /// Makes everything written so far durable.
  func sync() throws(SubledgerError) {
    for entry in logPlaces {
      let file = OpenFile(entry, O_RDONLY)
      if file == nil, errno == ENOENT { continue }
      guard let file, file.sync() else {
        throw SubledgerError(
          .inputOutput,
          "cannot make the run durable in \(entry): \(String(cString: strerror(errno)))",
          hint: "check the disk and run again")
      }
    }
  }

  /// Makes everything durable, and empties the write-ahead log; false if a reader prevents that.
  @discardableResult
  public func checkpoint() throws(SubledgerError) -> Bool {
    try sync()
    return try access("empty the log") { try $0.checkpoint(isEmptying: true) }
  }

  /// Copies the write-ahead log of the ledger at `path` into the file, concurrently with readers
  /// and writers, so that `checkpoint` has little left to copy.
  ///
  /// A failure here repeats in `checkpoint`, which reports it.
  public static func checkpointAhead(path: String) {
    _ = try? Connection(path: path).checkpoint(isEmptying: false)
  }

  /// Throws `stopped` when a signal asked to stop.
  public func checkStop() throws(SubledgerError) { try access("go on") { try $0.checkStop() } }

  /// Releases the memory that writing needed; the ledger stays usable.
  public func releaseMemory() throws(SubledgerError) {
    try access("release memory") { $0.releaseMemory() }
    // The allocator keeps freed memory, and the fold needs as much as the import before it.
    malloc_trim(0)
  }

  /// Runs `body` on the connection; calls may be nested.
  @discardableResult
  func access<Value>(
    _ doing: String, _ body: (Connection) throws -> Value
  ) throws(SubledgerError) -> Value {
    do {
      return try visit(doing, body)
    } catch let error as SubledgerError {
      throw error
    } catch {
      throw SubledgerError(
        .inputOutput, "cannot \(doing) in the ledger \(path): \(type(of: error))", hint: "run again"
      )
    }
  }

  /// Like `access`, for bodies that call back: errors of the caller pass unchanged.
  func visit<Value>(_ doing: String, _ body: (Connection) throws -> Value) throws -> Value {
    if let failedUndo { throw failedUndo }
    errno = 0
    do {
      return try body(connection)
    } catch let error as SQLiteError {
      if error.isInterrupted, let signal = stop?() { throw SubledgerError.stopped(by: signal) }
      throw SubledgerError(error, doing: doing, path: path)
    }
  }

  /// Returns the result of `body` for the first row of a query; nil if there are no rows.
  func first<each Value: Bindable, Result>(
    _ doing: String, _ sql: String, _ values: repeat each Value, body: (Statement) throws -> Result
  ) throws(SubledgerError) -> Result? {
    try access(doing) { try $0.first(sql, repeat each values, body: body) }
  }

  /// Returns the results of `body` for all rows of a query.
  func all<each Value: Bindable, Result>(
    _ doing: String, _ sql: String, _ values: repeat each Value, body: (Statement) throws -> Result
  ) throws(SubledgerError) -> [Result] {
    try access(doing) { try $0.all(sql, repeat each values, body: body) }
  }

  /// Runs `body` in a transaction.
  @discardableResult
  func change<Value>(
    _ doing: String, _ body: (Connection) throws -> Value
  ) throws(SubledgerError) -> Value {
    try access(doing) { try changeWhole($0, body) }
  }

  /// Runs `body` in a transaction that contains all its calls of the ledger.
  public func together(_ doing: String, _ body: () throws -> Void) throws {
    try visit(doing) { try changeWhole($0) { _ in try body() } }
  }

  func changeWhole<Value>(
    _ database: Connection, _ body: (Connection) throws -> Value
  ) throws -> Value {
    try lock?.requirePresence()
    let saved = savedWords
    try database.savepoint("change")
    do {
      let value = try body(database)
      try database.release("change")
      return value
    } catch {
      undo("undo a change", since: "change")
      savedWords = saved
      throw error
    }
  }

  /// Returns the symbol of `word`, which is added if new.
  func keep(word: String, in database: Connection) throws -> StringID {
    if let known = symbols.find(word) { return known }
    let symbol = symbols.symbol(word)
    try saveSymbols(in: database)
    return symbol
  }

  /// Writes the words that the file lacks, all or those among the first `count` of the table.
  func saveSymbols(upTo count: Int? = nil, in database: Connection) throws {
    while savedWords < count ?? symbols.words.count {
      try database.run(
        "insert into string (id, value) values (?, ?)", savedWords, symbols.words[savedWords])
      savedWords += 1
    }
  }

  /// Undoes an archive, with everything since `savepoint`, and restores the words of the file.
  func undoArchive(since savepoint: String) {
    undo("undo an archive", since: savepoint) { database in
      symbols = try Self.storedSymbols(database, path: path)
      savedWords = symbols.words.count
    }
  }

  /// Replaces the content by that of `other` in one transaction, unless `stop` returns a signal.
  public func replace(by other: Ledger, stop: () -> Int32) throws(SubledgerError) {
    try access("replace the content") { database in
      try other.access("copy the file") { source in
        try source.backup(to: database, pagesPerStep: 2048) {
          try SubledgerError.check(stop, "replacing the ledger's content")
        }
      }
      symbols = try Self.storedSymbols(database, path: path)
      savedWords = symbols.words.count
    }
  }

  /// Undoes everything since `savepoint`, and runs `rest`.
  ///
  /// Most callers have another error to report, or continue, so the next call throws the error of a
  /// failed rollback. `errno` stays unchanged for the other error.
  func undo(
    _ doing: String, since savepoint: String, _ rest: (Connection) throws -> Void = { _ in }
  ) {
    let cause = errno
    defer { errno = cause }
    do {
      try access(doing) { database in
        // After a full or broken disk, SQLite has already rolled back.
        if database.isInsideTransaction { try database.rollBack(savepoint) }
        try rest(database)
      }
    } catch {
      failedUndo = error
    }
  }

  private static func storedSymbols(_ database: Connection, path: String) throws -> StringTable {
    var table = StringTable()
    try database.forEachRow("select id, value from string where id > 0 order by id") { row in
      guard Int64(table.symbol(row.bytes(1))) == row.int64(0) else {
        throw SubledgerError(
          .damagedInput, "cannot read the ledger \(path): its table of strings contradicts itself",
          hint: "rebuild the ledger from the archives in a new file")
      }
    }
    return table
  }
}

extension Ledger {
  /// Assigns symbols to words that have none, for words that no event contained.
  ///
  /// A read-only ledger stays without them.
  public func learn(_ words: [String]) throws(SubledgerError) {
    let new = words.filter { symbol($0) == nil }
    guard !new.isEmpty, try !access("add strings", { $0.isReadOnly }) else { return }
    try change("keep the words of a price book") { database in
      for word in new { _ = try keep(word: word, in: database) }
    }
  }
}
