internal import Domain
internal import Glibc

/// Inflates the gzip file at `path` into a new file at `target`.
///
/// - Throws: `SubledgerError` when a file cannot be read or written.
/// - Returns: why the bytes are not a whole gzip file of at most `bytesMax` bytes; nil if they are.
public func unpackGzip(
  _ path: String, into target: String, bytesMax: Int64
) throws -> String? {
  let location = RawPath(path)
  guard let input = FilePieces(of: path) else {
    throw SubledgerError.system("read \(location.shown)", cause: errno)
  }
  guard let output = OpenFile(target, O_WRONLY | O_CREAT | O_EXCL, rights: 0o600) else {
    throw SubledgerError.system("make \(target)", cause: errno)
  }
  return try inflateMember(bytesMax: bytesMax) {
    guard let piece = input.next() else {
      throw SubledgerError.system("read \(location.shown)", cause: errno)
    }
    return piece
  } put: { bytes in
    guard output.write(bytes) else {
      throw SubledgerError.system("write \(target)", cause: errno)
    }
  }
}
