internal import Glibc

/// Why a command failed: the action, its object, the cause, and what to do.
///
/// Problems of single lines are data, not errors; this error ends a command or part of it. It never
/// contains an id or the content of a line.
public struct SubledgerError: Error, Codable, Sendable, Equatable, CustomStringConvertible {
  /// The class of the error, which decides the exit code.
  public enum Kind: Codable, Sendable, Equatable {
    /// An invalid option or argument.
    case usage
    /// Input is damaged beyond what salvage accepts.
    case damagedInput
    /// A path does not exist, or there is nothing to read and the ledger is empty.
    case noInput
    /// A bug, or an accounting identity that does not hold.
    case identity
    /// Amounts add up to more than can be kept exactly.
    case overflow
    /// Output cannot be created.
    case cannotCreate
    /// Reading or writing failed.
    case inputOutput
    /// Another run holds the lock.
    case tryAgain
    /// Permissions are missing.
    case permission
    /// The configuration is wrong, or another version of the program created the ledger.
    case configuration
    /// A signal asked to stop; the payload is its number.
    case stopped(Int32)
  }

  /// The class of the error.
  public var kind: Kind
  /// What failed, on which file, and why.
  public var message: String
  /// What to do about it; empty when there is nothing to add.
  public var hint: String

  /// Creates an error.
  public init(_ kind: Kind, _ message: String, hint: String = "") {
    self.kind = kind
    self.message = message
    self.hint = hint
  }

  /// A signal asked to stop; no change is half done.
  public static func stopped(by signal: Int32) -> SubledgerError {
    SubledgerError(
      .stopped(signal),
      "interrupted by signal \(signal); ingested archives are kept, nothing was published",
      hint: "run again to continue")
  }

  /// Throws when `stop` returns a signal, in a run or in an action that can be repeated.
  public static func check(_ stop: () -> Int32, _ doing: String? = nil) throws(SubledgerError) {
    let signal = stop()
    guard signal != 0 else { return }
    guard let doing else { throw .stopped(by: signal) }
    throw SubledgerError(
      .stopped(signal), "\(doing) was stopped by signal \(signal)", hint: "run again")
  }

  /// A system call failed with `cause`.
  ///
  /// - Parameters:
  ///   - doing: the action and its file, as in `read a.jsonl`.
  ///   - kind: the class for a missing file and for causes without a class of their own.
  ///   - place: what to check, such as its disk and permissions.
  public static func system(
    _ doing: String, _ kind: Kind? = nil, cause: Int32, at place: String = "it"
  ) -> SubledgerError {
    let (usual, hint): (Kind, String) =
      switch cause {
      case EACCES, EPERM, EROFS: (.permission, "check who owns \(place), and its mode")
      case ENOENT, ENOTDIR: (kind ?? .noInput, "check the path and that its disk is mounted")
      case EMFILE, ENFILE: (.inputOutput, "raise the limit (`ulimit -n`), or give fewer --jobs")
      case ENOSPC, EDQUOT, EFBIG:
        (.inputOutput, "free space on the disk of \(place) and run again; nothing is half")
      default: (kind ?? .inputOutput, "check the disk of \(place) and run again")
      }
    return SubledgerError(
      usual, "cannot \(doing): \(String(cString: strerror(cause)))", hint: hint)
  }

  /// Message and hint for the user.
  public var description: String { hint.isEmpty ? message : "\(message)\n  hint: \(hint)" }
}
