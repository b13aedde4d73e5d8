internal import Glibc

/// An archive, or a folder of archives, that cannot be read at all.
///
/// Damaged content is not an error: see `ArchiveDamage`.
public struct ArchiveError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What kind of failure it is; each has an exit code of its own.
  public enum Kind: Sendable, Equatable {
    /// The path does not exist.
    case missing
    /// This user may not read it.
    case permission
    /// Everything else the system refuses.
    case io
  }

  /// What kind of failure it is.
  public let kind: Kind
  /// The path, as shown to people.
  public let path: String
  private let action: String
  private var isWriting: Bool { ["make", "write"].contains(action) }
  private let reason: String

  init(_ action: String, _ path: RawPath, errorNumber: Int32) {
    switch errorNumber {
    case ENOENT, ENOTDIR: kind = .missing
    case EACCES, EPERM: kind = .permission
    default: kind = .io
    }
    self.path = path.shown
    self.action = action
    reason = String(cString: strerror(errorNumber))
  }

  init(_ action: String, _ path: RawPath, reason: String) {
    kind = .io
    self.path = path.shown
    self.action = action
    self.reason = reason
  }

  /// What failed, on which file, why, and what to do.
  public var description: String { "cannot \(action) \(path): \(reason); \(hint)" }

  /// What to do about it.
  public var hint: String {
    switch kind {
    case .missing: "check the path and that its disk is mounted"
    case .permission: "give this user the right to \(isWriting ? "write" : "read") it"
    case .io: isWriting ? "free space on the disk and run again" : "check the disk and run again"
    }
  }
}
