internal import Glibc

/// Inflates the gzip file at `path` into a new file at `target`.
///
/// - Throws: `ArchiveError` when a file cannot be read or written.
/// - Returns: why the bytes are not a whole gzip file of at most `bytesMax` bytes; nil if they are.
public func unpackGzip(
  _ path: String, into target: String, bytesMax: Int64
) throws -> String? {
  let location = RawPath(path)
  guard let input = FilePieces(of: path) else {
    throw ArchiveError("read", location, errorNumber: errno)
  }
  guard let output = OpenFile(target, O_WRONLY | O_CREAT | O_EXCL, rights: 0o600) else {
    throw ArchiveError("make", RawPath(target), errorNumber: errno)
  }
  return try inflateMember(bytesMax: bytesMax) {
    guard let piece = input.next() else {
      throw ArchiveError("read", location, errorNumber: errno)
    }
    return piece
  } put: { bytes in
    guard output.write(bytes) else {
      throw ArchiveError("write", RawPath(target), errorNumber: errno)
    }
  }
}
