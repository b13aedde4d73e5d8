import Domain
import Formats
import Foundation

/// A small file that a person wrote: the configuration, decisions, a price book.
struct SettingsFile {
  /// Its name in a sentence: `the configuration`.
  let what: String
  let path: String
  let place: String
  let missing: SubledgerError.Kind

  /// The most bytes that are read of one.
  static let sizeMax = 16 << 20

  func contents() throws(SubledgerError) -> [UInt8] {
    guard let file = FilePieces(of: path) else { throw failure(errno) }
    var bytes: [UInt8] = []
    while true {
      guard let piece = file.next() else { throw failure(errno) }
      if piece.isEmpty { return bytes }
      bytes += piece
      guard bytes.count <= Self.sizeMax else {
        throw SubledgerError(
          .configuration,
          "cannot read \(what) \(path): it is larger than \(Self.sizeMax >> 20) MiB",
          hint: "check the path given with \(place)")
      }
    }
  }

  private func failure(_ cause: Int32) -> SubledgerError {
    let kind: SubledgerError.Kind =
      switch cause {
      case ENOENT, ENOTDIR: missing
      case EACCES, EPERM, EISDIR: .permission
      case ENOTSUP: .configuration
      default: .inputOutput
      }
    let reason = cause == ENOTSUP ? "it is not a regular file" : String(cString: strerror(cause))
    return SubledgerError(
      kind, "cannot read \(what) \(path): \(reason)",
      hint: "check the path given with \(place)")
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
