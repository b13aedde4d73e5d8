internal import Glibc

/// An open file or folder that is closed with its last reference.
///
/// A call that fails returns nil or false and sets `errno`. A call interrupted by a signal is
/// repeated.
public final class OpenFile: Sendable {
  /// Its number in system calls, valid as long as this object.
  public let descriptor: Int32

  /// Opens `path`, a relative one in `folder`, with `flags`; a new file gets `rights` minus the
  /// umask.
  public init?(
    _ path: UnsafePointer<CChar>, _ flags: Int32, rights: UInt32 = 0, in folder: OpenFile? = nil
  ) {
    let number = openat(folder?.descriptor ?? AT_FDCWD, path, flags | O_CLOEXEC, rights)
    guard number >= 0 else { return nil }
    descriptor = number
  }

  deinit { keepingError { close(descriptor) } }

  /// Reads the next bytes into `target` and returns their number: 0 at the end.
  public func read(into target: UnsafeMutableRawBufferPointer) -> Int? {
    uninterrupted { Glibc.read(descriptor, target.baseAddress, target.count) }
  }

  /// The same from an offset in the file.
  public func read(into target: UnsafeMutableRawBufferPointer, at offset: Int) -> Int? {
    uninterrupted { pread(descriptor, target.baseAddress, target.count, offset) }
  }

  /// Writes all of `bytes`, in as many calls as the system needs.
  public func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      // For systems that write nothing without setting an error.
      errno = EIO
      let count = uninterrupted { Glibc.write(descriptor, rest.baseAddress, rest.count) } ?? 0
      guard count > 0 else { return false }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    return true
  }

  /// Waits until the content is on the disk.
  public func sync() -> Bool {
    // Some file systems report that they cannot sync a folder; nothing more can be done then.
    fsync(descriptor) == 0 || errno == EINVAL
  }

  /// The length in bytes.
  public func size() -> Int64? { status().map { Int64($0.st_size) } }

  /// Its permissions (0o600: only its owner); nil also if it is not a regular file.
  public func rights() -> UInt32? {
    guard let mode = status()?.st_mode, mode & S_IFMT == S_IFREG else { return nil }
    return mode & 0o777
  }

  /// A path by which this process can reopen it, even if it no longer has a name.
  var place: RawPath { RawPath("/proc/self/fd/\(descriptor)") }

  /// Whether it is a regular file or a folder; reading a folder fails later.
  func isFileOrFolder() -> Bool {
    status().map { [S_IFREG, S_IFDIR].contains($0.st_mode & S_IFMT) } ?? false
  }

  private func status() -> stat? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? status : nil
  }

  private func uninterrupted(_ call: () -> Int) -> Int? {
    while true {
      let count = call()
      if count >= 0 { return count }
      guard errno == EINTR else { return nil }
    }
  }
}

/// Calls `body` without changing `errno`: the caller may still need the error of an earlier call.
func keepingError(_ body: () -> Int32) {
  let cause = errno
  _ = body()
  errno = cause
}
