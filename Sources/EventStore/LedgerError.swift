internal import CSQLite
internal import Glibc

/// Why a call of the ledger failed.
///
/// The message contains the action, the file and the cause, never an id or content of a line.
public struct LedgerError: Error, Sendable, CustomStringConvertible {
  /// What sort of failure it is; decides the exit code.
  public enum Kind: Sendable, Equatable {
    /// Another process holds the ledger or its lock.
    case locked
    /// The file or its folder may not be read or written.
    case permission
    /// The file does not exist.
    case missing
    /// A newer program made the ledger.
    case newer
    /// An older program made the ledger, and it is only read.
    case older
    /// The file is damaged, or its content contradicts itself.
    case corrupt
    /// The disk is full.
    case full
    /// Reading or writing failed.
    case io
    /// The file is something else than a ledger.
    case notALedger
    /// A sum leaves the range of 64 bits.
    case overflow
    /// A signal asked to stop; no change is half done.
    case stopped(signal: Int32)
  }

  /// What sort of failure it is.
  public let kind: Kind
  /// The action, its file, and the cause.
  public let message: String
  /// What to do about it.
  public let hint: String

  /// Without a hint of its own it gives the one of its kind.
  init(_ kind: Kind, _ message: String, hint: String? = nil) {
    self.kind = kind
    self.message = message
    self.hint = hint ?? kind.hint
  }

  /// Message and hint, for a person.
  public var description: String { "\(message); \(hint)" }
}

extension LedgerError {
  /// Translates SQLite's result.
  ///
  /// Its message names tables and columns at most, never values, because statements bind their
  /// values. `errno` must have been 0 before SQLite was asked.
  init(_ cause: SQLiteError, doing: String, path: String) {
    // SQLite has no code of its own for what `sum` and `abs` refuse, and makes a floating-point
    // number of a sum of two, which no column takes.
    let isOverflow =
      cause.code == SQLITE_ERROR && cause.message == "integer overflow"
      || cause.message.hasPrefix("cannot store REAL value in INTEGER column")
    let kind = isOverflow ? .overflow : Kind(cause.primaryCode)
    // SQLite calls a file damaged when the system cannot read it (`unixRead` in its os_unix.c), and
    // a rebuilt ledger would lie on the same broken disk.
    let number = errno
    guard kind != .corrupt || ![EIO, ENXIO].contains(number) else {
      self = .system("\(doing) in the ledger \(path)", cause: number)
      return
    }
    let isMemory = cause.primaryCode == SQLITE_NOMEM
    self.init(
      kind, "cannot \(doing) in the ledger \(path): \(cause.message)",
      hint: isMemory ? "give the job more memory and run again; nothing is half" : nil)
  }
}

extension LedgerError {
  /// A call of the system on a file failed with `cause`.
  static func system(_ doing: String, cause: Int32, hint: String? = nil) -> LedgerError {
    let kind: Kind =
      switch cause {
      case EACCES, EPERM, EROFS: .permission
      case ENOSPC: .full
      default: .io
      }
    return LedgerError(kind, "cannot \(doing): \(String(cString: strerror(cause)))", hint: hint)
  }

  /// Throws when `stop` answers a signal while something is done that can be done again.
  static func check(_ stop: () -> Int32, _ doing: String) throws(LedgerError) {
    let signal = stop()
    guard signal != 0 else { return }
    throw LedgerError(.stopped(signal: signal), "\(doing) was stopped by signal \(signal)")
  }

  /// Invalid bytes in the ledger; `thing` names their content.
  static func damaged(_ thing: String) -> LedgerError {
    LedgerError(.corrupt, "cannot read \(thing) of the ledger: its content is damaged")
  }
}

extension LedgerError.Kind {
  init(_ code: Int32) {
    switch code {
    case SQLITE_BUSY, SQLITE_LOCKED: self = .locked
    case SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH: self = .permission
    case SQLITE_FULL: self = .full
    case SQLITE_NOTADB: self = .notALedger
    case SQLITE_CORRUPT, SQLITE_CONSTRAINT, SQLITE_MISMATCH: self = .corrupt
    default: self = .io
    }
  }

  var hint: String {
    switch self {
    case .locked: "wait until the other run is done, or give --lock-wait"
    case .permission: "check who owns the file and its folder, and their modes"
    case .missing: "check the path given as --ledger"
    case .newer: "use the program that made it, or a newer one"
    case .older: "let a run bring it up to date first"
    case .corrupt: "keep the file, and rebuild the ledger from the archives in a new one"
    case .full: "free space on the disks of the ledger and of TMPDIR and run again; nothing is half"
    case .io: "check the disk and that the folder exists, then run again"
    case .notALedger: "give the path of a ledger, or of a file that does not exist yet"
    case .overflow: "look in the archives for amounts that cannot be true"
    case .stopped: "run again"
    }
  }
}
