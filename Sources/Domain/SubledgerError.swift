internal import Glibc

/// Why a command failed: what was being done, on what, why it failed, and what to do.
///
/// Problems of single lines are data, not errors; this one ends a command or a part of it. It never
/// contains an id or the content of a line.
public struct SubledgerError: Error, Codable, Sendable, Equatable, CustomStringConvertible {
  /// The class of the error, as in the exit codes.
  public enum Kind: Codable, Sendable, Equatable {
    /// An option or argument that makes no sense.
    case usage
    /// Input is damaged beyond what salvage accepts.
    case damagedInput
    /// A path does not exist, or there is nothing to read and the ledger is empty.
    case noInput
    /// A bug, or an identity that does not hold.
    case identity
    /// Amounts add up to more than is kept exactly.
    case overflow
    /// Output cannot be made.
    case cannotCreate
    /// Reading or writing failed.
    case inputOutput
    /// Another run holds the lock.
    case tryAgain
    /// Rights are missing.
    case permission
    /// The configuration is wrong, or another version of the program made the ledger.
    case configuration
    /// A signal asked to stop; the payload is its number.
    case stopped(Int32)
  }

  /// What went wrong.
  public var kind: Kind
  /// What failed, on which file, and why.
  public var message: String
  /// What to do about it; empty when there is nothing to add.
  public var hint: String

  /// Makes an error.
  public init(_ kind: Kind, _ message: String, hint: String = "") {
    self.kind = kind
    self.message = message
    self.hint = hint
  }

  /// A signal asked to stop, and no change is half done.
  public static func stopped(by signal: Int32) -> SubledgerError {
    SubledgerError(
      .stopped(signal),
      "interrupted by signal \(signal); ingested archives are kept, nothing was published")
  }

  /// Throws when `stop` answers a signal.
  public static func check(_ stop: () -> Int32) throws(SubledgerError) {
    let signal = stop()
    if signal != 0 { throw .stopped(by: signal) }
  }

  /// Throws when `stop` answers a signal while something is done that can be done again.
  public static func check(_ stop: () -> Int32, _ doing: String) throws(SubledgerError) {
    let signal = stop()
    guard signal != 0 else { return }
    throw SubledgerError(
      .stopped(signal), "\(doing) was stopped by signal \(signal)", hint: "run again")
  }

  /// A call of the system failed with `cause`.
  ///
  /// - Parameters:
  ///   - doing: the action and its file, as in `read a.jsonl`.
  ///   - kind: what a missing file and every cause without a kind of its own is here.
  ///   - place: what to check: its disk, its rights.
  public static func system(
    _ doing: String, _ kind: Kind? = nil, cause: Int32, at place: String = "it"
  ) -> SubledgerError {
    let (usual, hint): (Kind, String) =
      switch cause {
      case EACCES, EPERM, EROFS: (.permission, "check who owns \(place), and its mode")
      case ENOENT, ENOTDIR: (kind ?? .noInput, "check the path and that its disk is mounted")
      case ENOSPC, EDQUOT, EFBIG:
        (.inputOutput, "free space on the disk of \(place) and run again; nothing is half")
      default: (kind ?? .inputOutput, "check the disk of \(place) and run again")
      }
    return SubledgerError(
      usual, "cannot \(doing): \(String(cString: strerror(cause)))", hint: hint)
  }

  /// Message and hint for a person.
  public var description: String { hint.isEmpty ? message : "\(message)\n  hint: \(hint)" }
}
