internal import Glibc
public import Domain

/// Standard input, stored in a file without a name because an archive is read more than once.
public final class StandardInput: Sendable {
  let file: OpenFile

  /// Its name among archives.
  static let name = "standard input"

  /// Reads standard input to its end into an unnamed file in `folder`, which disappears with this
  /// process, however it ends.
  ///
  /// - Parameter stop: returns the signal that asked to stop; 0 if none did.
  public init(
    keptIn folder: String, stop: @escaping @Sendable () -> Int32
  ) throws(SubledgerError) {
    guard isatty(STDIN_FILENO) == 0 else {
      throw SubledgerError(
        .usage, "the archive - is standard input, which is a terminal",
        hint: "pipe an archive into the command, or name a file")
    }
    let place = RawPath(folder).appending(RawPath("subledger-\(UInt64.random(in: 0...(.max)))"))
    func failure() -> SubledgerError {
      SubledgerError(
        .inputOutput,
        "cannot keep standard input in \(folder.shown()): \(String(cString: strerror(errno)))",
        hint: "free space in the temporary folder, or set TMPDIR to another one")
    }
    guard let file = OpenFile(place.terminated, O_RDWR | O_CREAT | O_EXCL, rights: 0o600) else {
      throw failure()
    }
    unlink(place.terminated)
    self.file = file
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
    defer { buffer.deallocate() }
    while true {
      try SubledgerError.check(stop)
      var stream = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      guard poll(&stream, 1, 200) > 0 else { continue }
      let count = read(STDIN_FILENO, buffer.baseAddress, buffer.count)
      if count == 0 { return }
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count > 0 else {
        throw SubledgerError.system("read standard input", .inputOutput, cause: errno)
      }
      guard file.write(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else {
        throw failure()
      }
    }
  }
}
