import Domain
import Formats
import Foundation

/// The most bytes that are read of a file that a person wrote.
let writtenBytesMax = 16 << 20

/// The bytes of a small file that a person wrote, which `place` gives.
///
/// - Parameters:
///   - what: its name in a sentence: `the configuration`.
///   - missing: what it is when there is none.
func fileContents(
  of what: String, at path: String, givenWith place: String,
  missing: SubledgerError.Kind = .configuration
) throws(SubledgerError) -> [UInt8] {
  func failure(_ kind: SubledgerError.Kind, _ reason: String) -> SubledgerError {
    SubledgerError(
      kind, "cannot read \(what) \(path): \(reason)", hint: "check the path given with \(place)")
  }
  func failure(_ cause: Int32) -> SubledgerError {
    let kind: SubledgerError.Kind =
      switch cause {
      case ENOENT, ENOTDIR: missing
      case EACCES, EPERM, EISDIR: .permission
      case ENOTSUP: .configuration
      default: .inputOutput
      }
    return failure(
      kind, cause == ENOTSUP ? "it is not a regular file" : String(cString: strerror(cause)))
  }
  guard let file = FilePieces(of: path) else { throw failure(errno) }
  var bytes: [UInt8] = []
  while true {
    guard let piece = file.next() else { throw failure(errno) }
    if piece.isEmpty { return bytes }
    bytes += piece
    guard bytes.count <= writtenBytesMax else {
      throw failure(.configuration, "it is larger than \(writtenBytesMax >> 20) MiB")
    }
  }
}

/// Whether there is, or may be, a file at `path`: one that cannot be looked at is not taken for
/// absent, so that opening it shows why.
func mayExist(_ path: String) -> Bool {
  access(path, F_OK) == 0 || errno != ENOENT && errno != ENOTDIR
}

/// The path that a link at `path` leads to, whether or not it exists; `path` itself when there is
/// no link.
///
/// The ledger's lock, its log and its copies belong to the file, whatever name it is given by.
func linksFollowed(_ path: String) -> String {
  var path = path
  // More than the system follows: a link that leads in a circle is left to it.
  for _ in 0..<64 {
    guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else {
      return path
    }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    path = target.hasPrefix("/") ? target : folder + target
  }
  return path
}
