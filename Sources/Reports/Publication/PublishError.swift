internal import Glibc

/// Why a report set could not be published; the set that was there before stays.
public struct PublishError: Error, Sendable, CustomStringConvertible {
  /// What sort of failure it is; decides the exit code.
  public enum Kind: Sendable, Equatable {
    /// A file or folder of the set cannot be made (exit 73).
    case cannotCreate
    /// Reading or writing failed, or the disk is full (exit 74).
    case io
    /// The place may not be read or written (exit 77).
    case permission
  }

  /// What sort of failure it is.
  public let kind: Kind
  /// What failed, on which file, and why.
  public let message: String
  /// What to do about it.
  public let hint: String

  init(_ kind: Kind, _ message: String, hint: String) {
    self.kind = kind
    self.message = message
    self.hint = hint
  }

  /// Message and hint, for a person.
  public var description: String { "\(message); \(hint)" }
}

extension PublishError {
  /// The failure of a system call that has just set `errno`.
  static func system(
    _ doing: String, _ path: String, _ fallback: Kind = .io, cause: Int32 = errno
  ) -> PublishError {
    let reason = String(cString: strerror(cause))
    let message = "cannot \(doing) \(path): \(reason)"
    return switch cause {
    case EACCES, EPERM, EROFS:
      PublishError(
        .permission, message, hint: "check who owns the folder given as --out, and its mode")
    case ENOSPC, EDQUOT, EFBIG:
      PublishError(.io, message, hint: "free space on the disk of --out and run again")
    case ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, EISDIR, EEXIST:
      PublishError(.cannotCreate, message, hint: "give a folder, or a path for a new one, as --out")
    default:
      PublishError(fallback, message, hint: "check the disk of --out and run again")
    }
  }
}
