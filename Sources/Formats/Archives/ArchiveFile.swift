internal import Glibc
public import Domain

/// A regular file, or an object elsewhere, that may contain delivered events, as it was when
/// listed.
public struct ArchiveFile: Sendable {
  /// The path as opened, shown as valid text on one line.
  public private(set) var path: String
  /// The path relative to the given root; the last component for a file given directly.
  public private(set) var name: String
  /// Length in bytes; bytes appended later are not read.
  public private(set) var bytes: Int64
  /// When the content last changed; 1970 for an object, whose `inode` changes instead.
  public let modified: Instant
  /// The inode number, or a hash of the object's version.
  public let inode: UInt64
  /// When it was written; nil for standard input, and for an object where this is unknown.
  public let written: Instant?
  let location: RawPath
  private(set) var relative: RawPath
  /// The commands that read it; nil for a file.
  let commands: ArchiveCommands?
  /// Its length in bytes when it was listed.
  let listed: Int64
  /// Returns the signal that asked to stop; 0 if none did.
  let stop: @Sendable () -> Int32

  init(
    location: RawPath, relative: RawPath, bytes: Int64, modified: Instant, inode: UInt64,
    written: Instant?, by commands: ArchiveCommands? = nil, stop: @escaping @Sendable () -> Int32
  ) {
    (path, self.location) = (location.shown, location)
    (name, self.relative) = (relative.shown, relative)
    (self.bytes, listed) = (bytes, bytes)
    (self.modified, self.written) = (modified, written)
    self.inode = inode
    (self.commands, self.stop) = (commands, stop)
  }

  init(_ input: StandardInput, stop: @escaping @Sendable () -> Int32) throws(SubledgerError) {
    let location = input.file.place
    var status = stat()
    guard stat(location.terminated, &status) == 0 else {
      throw SubledgerError.system("read standard input", .inputOutput, cause: errno)
    }
    self.init(
      location: location, relative: RawPath(StandardInput.name), bytes: Int64(status.st_size),
      modified: modificationTime(status), inode: UInt64(status.st_ino), written: nil, stop: stop)
    path = StandardInput.name
  }

  /// Whether each read is a transfer over the network.
  public var isRemote: Bool { commands != nil }

  /// How often reading is attempted; a disk is not retried.
  var attempts: Int { isRemote ? 3 : 1 }

  /// A file or object that another process listed, from the shown texts of its path and name.
  public init(
    listedAt path: String, as name: String, bytes: Int64, modified: Instant, inode: UInt64,
    by sources: ArchiveSources
  ) {
    self.init(
      location: RawPath(unescaping: path), relative: RawPath(unescaping: name), bytes: bytes,
      modified: modified, inode: inode, written: modified, by: sources.commands(for: path),
      stop: { 0 })
  }

  /// The file when it had at most `count` bytes and the name `name`.
  public func first(_ count: Int64, as name: String) -> ArchiveFile {
    var part = self
    (part.name, part.relative, part.bytes) = (name, RawPath(name), min(bytes, count))
    return part
  }
}

/// An entry under a root that is not read.
public struct SkippedEntry: Sendable, Equatable {
  /// Why it is not read.
  public enum Reason: String, Sendable {
    /// The name begins with a dot.
    case hidden
    /// A pipe, socket or device.
    case notRegular = "not a regular file"
    /// A link whose target is missing, or that forms a loop.
    case brokenLink = "a broken link"
    /// It existed when the folder was read but disappeared a moment later.
    case vanished
    /// A path known to contain something other than input.
    case notInput = "the job's own, or named as something else"
  }

  /// The path, shown as valid text on one line.
  public let path: String
  /// Why it is not read.
  public let reason: Reason
}

/// The entries under the given roots.
public struct ArchiveListing: Sendable {
  /// The files to read, in byte order of their name, then of their path.
  public let files: [ArchiveFile]
  /// Paths that are not read, in byte order as shown.
  public let leftOut: [SkippedEntry]
}
