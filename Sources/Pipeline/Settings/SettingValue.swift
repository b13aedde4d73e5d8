import Domain
import Yams

struct GivenPath: Sendable {
  let path: String
  /// A flag, a variable, or a setting of the configuration.
  let place: String
}

/// A value as it was written, and its place: readers throw `SubledgerError` naming the place, the
/// value and what is expected.
struct SettingValue {
  enum Source {
    case flag
    case environment
    case file(YAMLFile)
  }

  /// The full name, such as `limits.rejected_share`.
  let name: String
  /// The last part of the name, which may hold dots itself.
  let key: String
  let node: Node
  private let source: Source
  private let line: Int?

  init(name: String, key: String? = nil, node: Node, line: Int? = nil, _ source: Source) {
    self.name = name
    self.key = key ?? name
    self.node = node
    self.source = source
    self.line = line ?? node.mark?.line
  }

  /// Where a reader of a message finds the setting.
  var place: String {
    switch source {
    case .flag: "--\(name.replacing("_", with: "-"))"
    case .environment: "the environment variable SUBLEDGER_\(name.uppercased())"
    case .file(let file): "`\(name)` in the configuration \(file.name)"
    }
  }

  /// The place in short: `option --out`, `SUBLEDGER_OUT` or `subledger.yaml:3`.
  var origin: String {
    switch source {
    case .flag: "option \(place)"
    case .environment: "SUBLEDGER_\(name.uppercased())"
    case .file(let file): file.name + (line.map { ":\($0)" } ?? "")
    }
  }

  /// The value in one line; `masked` shows which texts there are, not what they say.
  func text(masked: Bool) -> String { Self.text(node, masked) }

  private static func text(_ node: Node, _ masked: Bool) -> String {
    switch node {
    case .scalar(let scalar): masked ? "***" : scalar.string
    case .sequence(let items): "[" + items.map { text($0, masked) }.joined(separator: ", ") + "]"
    case .mapping(let members):
      "{" + members.map { "\(text($0, false)): \(text($1, masked))" }.joined(separator: ", ") + "}"
    case .alias: "*"
    }
  }

  func refused(_ reason: String) -> SubledgerError {
    switch source {
    case .flag:
      SubledgerError(.usage, "\(place): \(reason)", hint: "--help describes every option")
    case .environment:
      SubledgerError(.usage, "\(place): \(reason)", hint: "change or unset the variable")
    case .file(let file): file.error(name.isEmpty ? reason : "`\(name)`: \(reason)", line: line)
    }
  }

  func isNot(_ expected: String) -> SubledgerError {
    let shown =
      switch node {
      case .scalar(let scalar): "\"\(scalar.string)\""
      case .sequence: "a list"
      case .mapping: "a mapping"
      case .alias: "an alias"
      }
    return refused("\(shown) is not \(expected)")
  }

  /// An error: nothing has this name, but perhaps one of `known` is meant.
  func unknown(among known: [String]) -> SubledgerError {
    let meant = suggestion(for: name, among: known)
    guard case .file(let file) = source else { return refused("unknown key\(meant)") }
    return file.error("unknown key `\(name)`\(meant)", line: line)
  }

  /// The values of a mapping, in the order of the file.
  func entries() throws(SubledgerError) -> [SettingValue] {
    guard let mapping = node.mapping else { throw isNot("a mapping of names to values") }
    return mapping.map { key, value in
      let text = key.scalar?.string ?? ""
      return SettingValue(
        name: name.isEmpty ? text : "\(name).\(text)", key: text, node: value,
        line: key.mark?.line, source)
    }
  }

  /// Does `work` with each value of the mapping; the errors of all are thrown together.
  func forEach(_ work: (SettingValue) throws -> Void) throws {
    var errors = SettingErrors()
    for entry in try entries() {
      do { try work(entry) } catch { errors.add(error) }
    }
    if !errors.all.isEmpty { throw errors }
  }

  func items() -> [SettingValue] {
    node.sequence?.map { SettingValue(name: name, key: key, node: $0, source) } ?? [self]
  }

  /// A text that is not empty.
  func text() throws(SubledgerError) -> String {
    guard let scalar = node.scalar else { throw isNot("a text") }
    let isNull = scalar.style == .plain && ["~", "null", "Null", "NULL"].contains(scalar.string)
    guard !isNull, !scalar.string.isEmpty else {
      throw refused("\"\(scalar.string)\" is empty; give it a value, or leave it out")
    }
    return scalar.string
  }

  /// A list of texts, or one; the environment separates them by colons.
  func list() throws(SubledgerError) -> [String] {
    if case .environment = source {
      return try text().split(separator: ":").map(String.init)
    }
    var texts: [String] = []
    for item in items() { texts.append(try item.text()) }
    return texts
  }

  func path() throws(SubledgerError) -> GivenPath { GivenPath(path: try text(), place: place) }
}

/// Errors of several values, reported together so that one correction is enough.
struct SettingErrors: Error {
  private(set) var all: [SubledgerError] = []

  /// Adds an error, or several of one setting of the file, for which `advice` says what to do.
  mutating func add(_ error: any Error, advice: String? = nil) {
    for var error in (error as? SettingErrors)?.all ?? [SubledgerError(error)] {
      if let advice, error.kind == .configuration { error.hint = advice }
      all.append(error)
    }
  }

  /// Throws the first error, and says how many there are.
  func throwFirst() throws(SubledgerError) {
    guard var first = all.first else { return }
    if all.count > 1 {
      first.hint += "; `subledger config check` lists \(all.count - 1) more"
    }
    throw first
  }
}

/// `. Did you mean X?` with the name of `known` that is nearest to `name`; empty when none is near.
func suggestion(for name: String, among known: [String]) -> String {
  let near = known.map { (name: $0, distance: editDistance($0, name)) }
    .min { ($0.distance, $0.name) < ($1.distance, $1.name) }
  guard let near, near.distance <= max(1, name.utf8.count / 4) else { return "" }
  return ". Did you mean \(near.name)?"
}

/// How many letters must be added, removed or exchanged to make one text of the other.
private func editDistance(_ left: String, _ right: String) -> Int {
  let right = Array(right.lowercased().utf8.prefix(64))
  var row = Array(0...right.count)
  for (index, letter) in left.lowercased().utf8.prefix(64).enumerated() {
    var diagonal = row[0]
    row[0] = index + 1
    for column in right.indices {
      let exchanged = diagonal + (letter == right[column] ? 0 : 1)
      diagonal = row[column + 1]
      row[column + 1] = min(exchanged, row[column] + 1, diagonal + 1)
    }
  }
  return row[right.count]
}
