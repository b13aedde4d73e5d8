internal import Glibc

/// A file or folder that is open, closed when nobody has it any more.
///
/// A call that fails gives nil or false, and `errno` says why. One that a signal interrupts is made
/// again.
public final class OpenFile {
  private let descriptor: Int32

  /// Opens what is at `path` as `flags` say; a file that is made gets `rights` less the umask.
  public init?(_ path: UnsafePointer<CChar>, _ flags: Int32, rights: UInt32 = 0) {
    let number = open(path, flags | O_CLOEXEC, rights)
    guard number >= 0 else { return nil }
    descriptor = number
  }

  deinit {
    // A call that failed before may still have to be told.
    let cause = errno
    close(descriptor)
    errno = cause
  }

  /// Reads what comes next into `target`, and gives the number of bytes: 0 at the end.
  public func read(into target: UnsafeMutableRawBufferPointer) -> Int? {
    uninterrupted { Glibc.read(descriptor, target.baseAddress, target.count) }
  }

  /// The same from a place in the file.
  public func read(into target: UnsafeMutableRawBufferPointer, at offset: Int) -> Int? {
    uninterrupted { pread(descriptor, target.baseAddress, target.count, offset) }
  }

  /// Writes all of `bytes`, in as many calls as the system needs.
  public func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      // For a system that takes nothing and says no reason.
      errno = EIO
      let count = uninterrupted { Glibc.write(descriptor, rest.baseAddress, rest.count) } ?? 0
      guard count > 0 else { return false }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    return true
  }

  /// Waits until it is on the disk.
  public func sync() -> Bool {
    // Some filesystems cannot sync a folder and say so; there is nothing more to do then.
    fsync(descriptor) == 0 || errno == EINVAL
  }

  /// How many bytes it has.
  public func size() -> Int64? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : nil
  }

  /// Who may do what with it (0o600 for its owner alone); nil when it is no regular file, too.
  public func rights() -> UInt32? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return status.st_mode & 0o777
  }

  private func uninterrupted(_ call: () -> Int) -> Int? {
    while true {
      let count = call()
      if count >= 0 { return count }
      guard errno == EINTR else { return nil }
    }
  }
}
