import Domain
import Yams

struct GivenPath: Sendable {
  let path: String
  /// A flag, a variable, or a setting of the configuration.
  let place: String
}

/// A value as it was written, and its location: readers throw `SubledgerError` with the location,
/// the value and the expected form.
struct SettingValue {
  enum Source {
    case flag
    case environment
    case file(YAMLFile)
  }

  /// The full name, such as `limits.rejected_share`.
  let name: String
  /// The last part of the name, which may itself contain dots.
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

  /// Where the setting is: `option --out`, `SUBLEDGER_OUT` or `subledger.yaml:3`.
  var origin: String {
    switch source {
    case .flag: "option --\(name.replacing("_", with: "-"))"
    case .environment: "SUBLEDGER_\(name.uppercased())"
    case .file(let file): file.name + (line.map { ":\($0)" } ?? "")
    }
  }

  /// Returns the value in one line; `masked` hides the content of texts.
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
      SubledgerError(.usage, "\(origin): \(reason)", hint: "--help describes every option")
    case .environment:
      SubledgerError(.usage, "\(origin): \(reason)", hint: "change or unset the variable")
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

  /// Returns an error for an unknown key, perhaps with a suggestion from the `known` ones there.
  func unknown(among known: [String]) -> SubledgerError {
    let place = name.dropLast(key.count)
    let meant = suggestion(for: name, among: known.map { place + $0 })
    guard case .file(let file) = source else { return refused("unknown key\(meant)") }
    return file.error("unknown key `\(name)`\(meant)", line: line)
  }

  /// Returns the values of a mapping, in the order of the file.
  func entries() throws(SubledgerError) -> [SettingValue] {
    guard let mapping = node.mapping else { throw isNot("a mapping of names to values") }
    return mapping.map { key, value in
      let text = key.scalar?.string ?? ""
      return SettingValue(
        name: name.isEmpty ? text : "\(name).\(text)", key: text, node: value,
        line: key.mark?.line, source)
    }
  }

  /// Runs `work` with each value of the mapping; all errors are thrown together.
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

  /// Whether YAML reads it as no value.
  var isNull: Bool {
    node.scalar.map {
      $0.style == .plain && ["", "~", "null", "Null", "NULL"].contains($0.string)
    } ?? false
  }

  /// Returns a non-empty text.
  func text() throws(SubledgerError) -> String {
    guard let scalar = node.scalar else { throw isNot("a text") }
    guard !isNull, !scalar.string.isEmpty else {
      throw refused("\"\(scalar.string)\" is empty; give it a value")
    }
    return scalar.string
  }

  /// Returns a list of texts, or of one; in the environment, colons that are not those of a URL
  /// separate them.
  func list() throws(SubledgerError) -> [String] {
    if case .environment = source {
      return try text().split(separator: #/:(?!//)/#).map(String.init)
    }
    return try items().map { item throws(SubledgerError) in try item.text() }
  }

  func path() throws(SubledgerError) -> GivenPath { GivenPath(path: try text(), place: origin) }
}

/// Errors in several values, reported together so that one correction is enough.
struct SettingErrors: Error {
  private(set) var all: [SubledgerError] = []

  /// Adds an error, or several of one setting of the file, for which `advice` says what to do.
  mutating func add(_ error: any Error, advice: String? = nil) {
    for var error in (error as? SettingErrors)?.all ?? [SubledgerError(error)] {
      if let advice, error.kind == .configuration { error.hint = advice }
      all.append(error)
    }
  }

  /// Throws all errors as one.
  func throwTogether() throws(SubledgerError) {
    guard var error = all.first else { return }
    error.message = listed(all.map(\.message))
    throw error
  }
}

/// Returns at most twenty texts, each on its own line, and the number of the others.
func listed(_ texts: [String]) -> String {
  let others = texts.count > 20 ? ["and \(texts.count - 20) more"] : []
  return (texts.prefix(20) + others).joined(separator: "\n  ")
}

/// Returns `. Did you mean X?` with the name in `known` nearest to `name`; empty if none is near.
func suggestion(for name: String, among known: [String]) -> String {
  let near = known.map { (name: $0, distance: editDistance($0, name)) }
    .min { ($0.distance, $0.name) < ($1.distance, $1.name) }
  guard let near, near.distance <= max(1, name.utf8.count / 4) else { return "" }
  return ". Did you mean \(near.name)?"
}

/// Returns how many letters must be added, removed or replaced to turn one text into the other.
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
