public import Domain

/// A regular file that may hold delivered events, as it was when the folder was listed.
public struct ArchiveFile: Sendable {
  /// The path as opened, shown as valid text on one line.
  public let path: String
  /// The path relative to the root given; the last component of a file given directly.
  public let name: String
  /// Length in bytes; bytes appended later are not read.
  public let bytes: Int64
  /// When the content last changed, in milliseconds.
  public let modified: Instant
  /// The file's number on its disk.
  public let inode: UInt64
  let location: RawPath
  let relative: RawPath
  /// Answers the signal that asked to stop, 0 while none did.
  let stop: @Sendable () -> Int32

  init(
    location: RawPath, relative: RawPath, bytes: Int64, modified: Instant, inode: UInt64,
    stop: @escaping @Sendable () -> Int32
  ) {
    path = location.shown
    name = relative.shown
    self.location = location
    self.relative = relative
    self.bytes = bytes
    self.modified = modified
    self.inode = inode
    self.stop = stop
  }

  /// The file as it was while it had no more than `count` bytes, and the name `name`.
  public func first(_ count: Int64, as name: String) -> ArchiveFile {
    ArchiveFile(
      location: location, relative: RawPath(name), bytes: min(bytes, count), modified: modified,
      inode: inode, stop: stop)
  }
}

/// Something under a root that is not read.
public struct LeftOut: Sendable, Equatable {
  /// Why it is not read.
  public enum Reason: String, Sendable {
    /// The name begins with a point.
    case hidden
    /// A pipe, socket or device.
    case notRegular = "not a regular file"
    /// A link that leads nowhere or in circles.
    case brokenLink = "a link that leads nowhere"
    /// It was there when the folder was read, and gone a moment later.
    case vanished
    /// Something else than input is known to lie there.
    case ofOthers = "the job's own, or named as something else"
  }

  /// The path, shown as valid text on one line.
  public let path: String
  /// Why it is not read.
  public let reason: Reason
}

/// What lies under the roots given.
public struct ArchiveListing: Sendable {
  /// The files to read, in byte order of their name, then of their path.
  public let files: [ArchiveFile]
  /// Paths that are not read, in byte order as shown.
  public let leftOut: [LeftOut]
}
