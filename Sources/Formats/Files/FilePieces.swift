internal import Glibc

/// The bytes of a file from its beginning, piece by piece.
///
/// A call that fails returns nil and sets `errno`, to `ENOTSUP` for a pipe or a device, which could
/// have no end.
public final class FilePieces {
  private let file: OpenFile
  private let buffer: UnsafeMutableRawBufferPointer

  /// Opens the file at `path` with additional `flags`; pieces have at most `size` bytes.
  public init?(of path: String, flags: Int32 = 0, size: Int = 1 << 16) {
    guard let file = OpenFile(path, O_RDONLY | O_NONBLOCK | flags) else { return nil }
    guard file.isFileOrFolder() else {
      errno = ENOTSUP
      return nil
    }
    self.file = file
    buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 64)
  }

  deinit { buffer.deallocate() }

  /// The next piece, empty at the end; its bytes are there until the one after it is asked for, and
  /// no longer than this object.
  public func next() -> UnsafeRawBufferPointer? {
    file.read(into: buffer).map { UnsafeRawBufferPointer(rebasing: buffer[..<$0]) }
  }
}
