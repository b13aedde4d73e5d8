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

/// Sets that grow together: those of which anything is linked.
struct LinkedSets {
  private var roots: [Int64: Int64] = [:]

  mutating func join(_ one: Int64, _ other: Int64) {
    let (left, right) = (root(of: one), root(of: other))
    if left != right { roots[max(left, right)] = min(left, right) }
  }

  private mutating func root(of key: Int64) -> Int64 {
    var root = key
    while let next = roots[root] { root = next }
    var place = key
    while let next = roots[place], next != root {
      roots[place] = root
      place = next
    }
    return root
  }

  /// Each key that is linked to a lesser one, with the least.
  mutating func all() -> [(key: Int64, root: Int64)] {
    roots.keys.sorted().map { ($0, root(of: $0)) }
  }
}
