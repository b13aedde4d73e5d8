/// A user-facing error: what failed, on which file, why, and what to do.
public struct SubledgerError: Error, Sendable, CustomStringConvertible {
  /// The class of the error, as in the exit codes.
  public enum Kind: Sendable {
    /// An option or argument that makes no sense.
    case usage
    /// Input is damaged beyond what salvage accepts.
    case damagedInput
    /// A path does not exist, or there is nothing to read and the ledger is empty.
    case noInput
    /// A bug, or an identity that does not hold.
    case identity
    /// Output cannot be made.
    case cannotCreate
    /// Reading or writing failed.
    case inputOutput
    /// Another run holds the lock.
    case tryAgain
    /// Rights are missing.
    case permission
    /// The configuration is wrong.
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
  static func stopped(by signal: Int32) -> SubledgerError {
    SubledgerError(.stopped(signal), "stopped by signal \(signal); what was done is kept")
  }

  /// Message and hint for a person.
  public var description: String { hint.isEmpty ? message : "\(message)\n  hint: \(hint)" }
}
