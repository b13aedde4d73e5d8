public import Domain
internal import Glibc

/// The SHA-256 of a whole file as 64 lower-case hex digits, read in pieces.
public func sha256(ofFile path: String) throws(SubledgerError) -> String {
  guard let file = FilePieces(of: path, size: 256 << 10) else {
    throw .system("read \(path)", cause: errno)
  }
  let digest = SHA256Digest()
  while true {
    guard let piece = file.next() else { throw .system("read \(path)", cause: errno) }
    if piece.isEmpty { return digest.finish() }
    digest.update(piece)
  }
}
