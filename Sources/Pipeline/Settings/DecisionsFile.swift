import Formats
import Foundation
import EventStore
import Yams

/// What people decided about breaks: a YAML list, kept under version control.
///
/// ```
/// - break_id: 01f7b890c99a0146
///   decision: explained
///   reason: refunded by hand, booked in FIN-1207
///   who: j.doe
/// ```
struct DecisionsFile: Sendable {
  /// In the order of the file.
  var decisions: [Decision] = []
  /// SHA-256 of the file's bytes; nil without a file.
  var sha256: String?
  /// The file's bytes; nil without a file.
  var source: [UInt8]?

  /// No file was named.
  init() {}

  /// Reads `path`, which `place` gives.
  ///
  /// - Throws: `SubledgerError` of kind `configuration` naming the file, the line, the entry and
  ///   what
  ///   is expected.
  init(path: String, givenWith place: String? = nil) throws(SubledgerError) {
    let data = try SettingsFile(
      what: "the decisions", path: path, place: place ?? "--decisions", missing: .configuration
    ).contents()
    try self.init([UInt8](data), named: path)
  }

  /// Reads the content of the file at `path`.
  init(_ bytes: [UInt8], named path: String) throws(SubledgerError) {
    source = bytes
    sha256 = Formats.sha256(of: bytes)
    decisions = try DecisionsReader(path: path).read(bytes)
  }
}

/// Walks the nodes of a decisions file, which know their lines.
private struct DecisionsReader {
  let path: String

  func read(_ bytes: [UInt8]) throws(SubledgerError) -> [Decision] {
    let text = try yamlText(bytes, of: "the decisions \(path)")
    let root: Node?
    do {
      // As nodes, an id of digits stays the text that was written.
      root = try Yams.compose(yaml: text, .default, .default, .utf8)
    } catch {
      throw SubledgerError(
        .configuration, "the decisions \(path) are no YAML\(yamlProblem(error))", hint: Self.hint)
    }
    guard let root, root.null == nil else { return [] }
    guard let entries = root.sequence else {
      throw wrong(root, "must be a list, each entry beginning with `- break_id:`")
    }
    var lines: [String: Int] = [:]
    var decisions: [Decision] = []
    for (index, entry) in entries.enumerated() {
      let decision = try self.decision(entry, "entry \(index + 1)")
      if let line = lines[decision.breakID] {
        throw wrong(entry, "entry \(index + 1) decides again what line \(line) has decided")
      }
      lines[decision.breakID] = entry.mark?.line ?? 0
      decisions.append(decision)
    }
    return decisions
  }

  private func decision(_ node: Node, _ entry: String) throws(SubledgerError) -> Decision {
    guard let mapping = node.mapping else {
      throw wrong(node, "\(entry) must have break_id, decision, reason and who")
    }
    var fields: [String: String] = [:]
    for (key, value) in mapping {
      let name = key.scalar?.string ?? ""
      guard Self.keys.contains(name) else {
        throw wrong(key, "\(entry) has an unknown key `\(name)`")
      }
      let text = value.scalar?.string.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
      guard !text.isEmpty, value.null == nil else {
        throw wrong(value, "\(entry): `\(name)` must be a text that is not empty")
      }
      fields[name] = text
    }
    guard let id = fields["break_id"], let word = fields["decision"],
      let reason = fields["reason"], let who = fields["who"]
    else {
      let missing = Self.keys.filter { fields[$0] == nil }.joined(separator: "`, `")
      throw wrong(node, "\(entry) lacks `\(missing)`")
    }
    guard id.utf8.count == 16, id.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) }) else {
      throw wrong(node, "\(entry): `break_id` must be the 16 digits 0-9 and a-f of breaks.csv")
    }
    guard let verdict = Decision.Verdict(rawValue: word) else {
      throw wrong(node, "\(entry): `decision` must be explained or written_off")
    }
    return Decision(breakID: id, verdict: verdict, reason: reason, who: who)
  }

  private func wrong(_ node: Node, _ rule: String) -> SubledgerError {
    let line = node.mark.map { ", line \($0.line)" } ?? ""
    return SubledgerError(
      .configuration, "in the decisions \(path)\(line): \(rule)", hint: Self.hint)
  }

  private static let keys = ["break_id", "decision", "reason", "who"]
  private static let hint = "docs/operations.md shows such a file"
}
