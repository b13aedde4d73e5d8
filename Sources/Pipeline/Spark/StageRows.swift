import Domain
import Foundation

/// What the processes of a stage gave, in files of a folder.
struct StageRows {
  let folder: String

  /// Calls `body` with the fields of each row: its kind first.
  func forEachRow(_ body: ([Substring]) throws -> Void) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    for name in names.sorted() where name.hasPrefix("part-") {
      try StageInput(path: "\(folder)/\(name)").forEachRow { fields, _ in try body(fields) }
    }
  }

  func remove() throws { try FileManager.default.removeItem(atPath: folder) }

  static func malformed(_ what: String) -> SubledgerError {
    SubledgerError(
      .damagedInput, "cannot read what a stage gave: a row of \(what) is malformed",
      hint: "run again; if it stays so, the workers have another version of the program")
  }
}
