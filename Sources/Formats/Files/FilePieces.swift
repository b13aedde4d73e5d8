internal import Glibc

/// The bytes of a file from its beginning, piece by piece.
///
/// A call that fails returns nil and sets `errno`; to `ENOTSUP` for a pipe or device, which may
/// never end.
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

  /// The next piece, empty at the end; its bytes are valid until the next call and no longer than
  /// this object.
  public func next() -> UnsafeRawBufferPointer? {
    file.read(into: buffer).map { UnsafeRawBufferPointer(rebasing: buffer[..<$0]) }
  }

  /// Calls `body` with every line that has a newline, without the newline; false when reading
  /// failed.
  public func forEachLine(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows -> Bool {
    var rest: [UInt8] = []
    while let piece = next() {
      if piece.isEmpty { return true }
      var start = 0
      while let end = piece.place(of: UInt8(ascii: "\n"), from: start) {
        let line = UnsafeRawBufferPointer(rebasing: piece[start..<end])
        if rest.isEmpty {
          try body(line)
        } else {
          rest.append(contentsOf: line)
          try rest.withUnsafeBytes(body)
          rest.removeAll(keepingCapacity: true)
        }
        start = end + 1
      }
      rest.append(contentsOf: piece[start...])
    }
    return false
  }
}

extension UnsafeRawBufferPointer {
  /// The first position of `byte` from `start` on.
  public func place(of byte: UInt8, from start: Int) -> Int? {
    guard start < count, let base = baseAddress else { return nil }
    return memchr(base + start, Int32(byte), count - start).map { UnsafeRawPointer($0) - base }
  }
}
