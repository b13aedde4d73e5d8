internal import Glibc

/// A file whose digest could not be taken.
public struct DigestError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The file.
  public let path: String
  /// The system's error number.
  public let errorNumber: Int32

  /// What failed, on which file, why, and what to do.
  public var description: String {
    "cannot take the SHA-256 of \(path): \(String(cString: strerror(errorNumber)));"
      + " check that the file exists and that this user may read it"
  }
}

/// The SHA-256 of a whole file as 64 lower-case hex digits, read in pieces.
public func sha256(ofFile path: String) throws(DigestError) -> String {
  guard let file = FilePieces(of: path, size: 256 << 10) else {
    throw DigestError(path: path, errorNumber: errno)
  }
  let digest = SHA256Digest()
  while true {
    guard let piece = file.next() else { throw DigestError(path: path, errorNumber: errno) }
    if piece.isEmpty { return digest.finish() }
    digest.update(piece)
  }
}
