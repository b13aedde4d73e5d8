import Formats
import Foundation

/// A path that an option gives.
struct SaidPath: Sendable {
  let path: String
  /// Who gives it, for a hint: a flag, a variable, or a key of the configuration.
  let place: String
}

/// A small file that a person wrote: the configuration, decisions, a price book.
struct SettingsFile {
  /// What it is, in a sentence: `the configuration`.
  let what: String
  let path: String
  /// Who names it.
  let place: String
  /// What it is when there is no such file.
  let missing: SubledgerError.Kind

  /// The most bytes that are read of one.
  static let sizeMax = 16 << 20

  /// The whole file.
  func contents() throws(SubledgerError) -> Data {
    guard let file = FilePieces(of: path) else { throw failure(errno) }
    var bytes: [UInt8] = []
    while true {
      guard let piece = file.next() else { throw failure(errno) }
      if piece.isEmpty { return Data(bytes) }
      bytes += piece
      guard bytes.count <= Self.sizeMax else {
        throw SubledgerError(
          .configuration,
          "cannot read \(what) \(path): it is larger than "
            + "\(Self.sizeMax >> 20) MiB", hint: "check the path given with \(place)")
      }
    }
  }

  private func failure(_ cause: Int32) -> SubledgerError {
    let doing = "cannot read \(what) \(path)"
    switch cause {
    case ENOENT, ENOTDIR:
      return SubledgerError(
        missing, "\(doing): there is no such file", hint: "check the path given with \(place)")
    case EACCES, EPERM, EISDIR:
      return SubledgerError(
        .permission, "\(doing): it is no readable file", hint: "check the rights of the file")
    default:
      return SubledgerError(
        .inputOutput, "\(doing): \(String(cString: strerror(cause)))",
        hint: "check the disk and run again")
    }
  }
}

/// The text of a YAML file that a person wrote, within its bounds and without a byte order mark.
///
/// - Parameter what: which file it is, in a sentence: `the configuration subledger.yaml`.
/// - Throws: `SubledgerError` of kind `configuration` naming the line and what is wrong there.
func yamlText(_ bytes: [UInt8], of what: String) throws(SubledgerError) -> String {
  let content = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes.dropFirst(3) : bytes[...]
  guard let text = String(validating: content, as: UTF8.self) else {
    let lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
    throw SubledgerError(
      .configuration, "cannot read \(what): line \(line + 1) has bytes that are no UTF-8",
      hint: "save the file as UTF-8")
  }
  if let problem = YAMLBounds.problem(in: text) {
    throw SubledgerError(
      .configuration, "cannot read \(what)\(problem)", hint: YAMLBounds.hint)
  }
  return text
}

/// Whether there is, or may be, a file at `path`: one that cannot be looked at is not taken for
/// absent, so that opening it tells why.
func mayExist(_ path: String) -> Bool {
  access(path, F_OK) == 0 || errno != ENOENT && errno != ENOTDIR
}
