internal import CSQLite
internal import Domain
internal import Glibc

extension SubledgerError {
  /// Translates SQLite's result.
  ///
  /// Its message contains at most names of tables and columns, never values, because statements
  /// bind their values. `errno` must have been 0 before the call of SQLite.
  ///
  /// - Parameter doing: what was done in the ledger; nil if it was being opened.
  init(_ cause: SQLiteError, doing: String? = nil, path: String) {
    let number = errno
    let action = doing.map { "\($0) in the ledger \(path)" } ?? "open the ledger \(path)"
    let message = "cannot \(action): \(cause.message)"
    switch cause.primaryCode {
    // SQLite has no code of its own for an overflow of `sum` and `abs`, and turns an overflowing
    // sum of two integers into a floating-point number, which no column accepts.
    case _
    where cause.code == SQLITE_ERROR && cause.message == "integer overflow"
      || cause.message.hasPrefix("cannot store REAL value in INTEGER column"):
      self = .overflow(message)
    case SQLITE_BUSY, SQLITE_LOCKED:
      self.init(
        .tryAgain, message, hint: "wait until the other run is done, or give --lock-wait")
    case SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH:
      self.init(.permission, message, hint: Self.rightsHint)
    case SQLITE_FULL:
      self.init(.inputOutput, message, hint: Self.fullHint)
    case SQLITE_NOTADB:
      self.init(
        .damagedInput, "cannot \(action): the file is not a ledger", hint: Self.otherFileHint)
    case SQLITE_ERROR where cause.message.hasPrefix("no such "):
      // The program only uses tables and columns that every ledger has.
      self = .damagedLedger(message)
    // SQLite reports a file as damaged when the system cannot read it (`unixRead` in its
    // os_unix.c), and a rebuilt ledger would be on the same broken disk.
    case SQLITE_CORRUPT, SQLITE_CONSTRAINT, SQLITE_MISMATCH:
      self =
        [EIO, ENXIO].contains(number)
        ? .ledgerFile(action, cause: number) : .damagedLedger(message)
    case SQLITE_CANTOPEN where [EMFILE, ENFILE].contains(number):
      self = .system(action, cause: number)
    case SQLITE_NOMEM:
      self.init(
        .inputOutput, message, hint: "give the job more memory and run again; nothing is half")
    default:
      self.init(.inputOutput, message, hint: Self.diskHint)
    }
  }

  /// Creates the error for a system call that failed with `cause` on a file of the ledger.
  static func ledgerFile(_ doing: String, cause: Int32, hint: String? = nil) -> SubledgerError {
    var error = system(doing, .inputOutput, cause: cause)
    let usual =
      error.kind == .permission ? rightsHint : cause == ENOSPC ? fullHint : diskHint
    error.hint = hint ?? usual
    return error
  }

  /// Creates the error for a ledger whose content is damaged, or contradicts itself.
  static func damagedLedger(_ message: String) -> SubledgerError {
    SubledgerError(
      .damagedInput, message,
      hint: "keep the file, and rebuild the ledger from the archives in a new one")
  }

  /// Creates the error for invalid bytes in the ledger; `thing` names their content.
  static func damaged(_ thing: String) -> SubledgerError {
    .damagedLedger("cannot read \(thing) of the ledger: its content is damaged")
  }

  /// Creates the error for a sum that exceeds 64 bits.
  static func overflow(_ message: String) -> SubledgerError {
    SubledgerError(.overflow, message, hint: "look in the archives for amounts that cannot be true")
  }

  static let diskHint = "check the disk and that the folder exists, then run again"
  static let otherFileHint = "give the path of a ledger, or of a file that does not exist yet"
  private static let rightsHint = "check who owns the file and its folder, and their modes"
  private static let fullHint =
    "free space on the disks of the ledger and of TMPDIR and run again; nothing is half"
}
