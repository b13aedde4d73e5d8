import Domain
import Formats
import Foundation

/// Maximum size of a file that a person wrote, in bytes.
let writtenBytesMax = 16 << 20

/// Reads the bytes of a small file that a person wrote; the setting `place` contains its path.
///
/// - Parameters:
///   - what: its name in a sentence: `the configuration`.
///   - missing: the kind of error when the file is missing.
func fileContents(
  of what: String, at path: String, givenWith place: String,
  missing: SubledgerError.Kind = .noInput
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

/// Returns the text of a file that a person wrote, without byte order mark; throws `error` of the
/// reason and the line, from 1, when it is not UTF-8.
func utf8Text(
  of bytes: [UInt8], error: (String, Int) -> SubledgerError
) throws(SubledgerError) -> String {
  let content = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes.dropFirst(3) : bytes[...]
  if let text = String(validating: content, as: UTF8.self) { return text }
  let lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
  let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
  throw error("the line is not UTF-8; save the file as UTF-8", line + 1)
}

/// Whether a file exists, or may exist, at `path`: a file that cannot be inspected counts as
/// existing, so that opening it shows why.
func mayExist(_ path: String) -> Bool {
  access(path, F_OK) == 0 || errno != ENOENT && errno != ENOTDIR
}

/// Whether two paths lead to one file, or would if it existed.
func isSameFile(_ path: String, _ other: String) -> Bool {
  var (here, there) = (stat(), stat())
  if stat(path, &here) == 0, stat(other, &there) == 0 {
    return here.st_dev == there.st_dev && here.st_ino == there.st_ino
  }
  func whole(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
  return whole(path) == whole(other)
}

/// Returns the target of a link at `path`, whether or not it exists, or `path` itself if it is not
/// a link.
///
/// The ledger's lock, log and copies belong to the file, under whatever name it is opened.
func linksFollowed(_ path: String) -> String {
  var path = path
  // More links than the system follows: it reports a circular link.
  for _ in 0..<64 {
    guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else {
      return path
    }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    path = target.hasPrefix("/") ? target : folder + target
  }
  return path
}
