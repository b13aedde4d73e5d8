import Domain
import EventStore
import Formats
import Foundation
import Yams

/// People's decisions about breaks: a YAML list, kept under version control.
///
/// ```
/// - break_id: b-01f7b890c99a0146
///   decision: explained
///   reason: refunded by hand, booked in FIN-1207
///   who: j.doe
/// ```
struct DecisionsFile: Sendable {
  /// Decisions in the order of the file.
  var decisions: [Decision] = []
  /// SHA-256 of the file's bytes; nil without a file.
  var sha256: String?
  /// The file's bytes; nil without a file.
  var source: [UInt8]?

  init() {}

  /// Reads the content of the file at `path`.
  ///
  /// - Throws: `SubledgerError` of kind `configuration` with the file, every wrong line and value.
  init(_ bytes: [UInt8], named path: String) throws(SubledgerError) {
    source = bytes
    sha256 = Formats.sha256(of: bytes)
    let file = YAMLFile(name: path, hint: "docs/operations.md shows such a file")
    guard let root = try file.root(of: bytes) else { return }
    guard root.sequence != nil else {
      throw file.error(
        "the file is not a list, each entry beginning with `- break_id:`", line: root.mark?.line)
    }
    var lines: [String: Int] = [:]
    var errors = SettingErrors()
    for entry in SettingValue(name: "", node: root, .file(file)).items() {
      do throws(SubledgerError) {
        let decision = try Decision(entry)
        if let line = lines[decision.breakID] {
          throw entry.refused("break \(decision.breakID) is already decided in line \(line)")
        }
        lines[decision.breakID] = entry.node.mark?.line ?? 0
        decisions.append(decision)
      } catch {
        errors.add(error)
      }
    }
    try errors.throwTogether()
  }
}

extension Decision {
  init(_ entry: SettingValue) throws(SubledgerError) {
    let keys = ["break_id", "decision", "reason", "who"]
    var fields: [String: String] = [:]
    for field in try entry.entries() {
      guard keys.contains(field.key) else { throw field.unknown(among: keys) }
      fields[field.key] = try field.text().trimmingCharacters(in: .whitespacesAndNewlines)
      switch field.key {
      case "decision" where Verdict(rawValue: fields[field.key] ?? "") == nil:
        throw field.isNot("explained or written_off")
      case "break_id" where fields[field.key]?.wholeMatch(of: /b-[0-9a-f]{16}/) == nil:
        throw field.isNot("a break_id of breaks.csv: b- and 16 digits 0-9 and a-f")
      default: if fields[field.key] == "" { throw field.refused("the text is empty") }
      }
    }
    guard let id = fields["break_id"], let reason = fields["reason"], let who = fields["who"],
      let verdict = fields["decision"].flatMap(Verdict.init)
    else {
      let missing = keys.filter { fields[$0] == nil }.map { "`\($0)`" }.joined(separator: ", ")
      throw entry.refused("the entry lacks \(missing)")
    }
    self.init(breakID: id, verdict: verdict, reason: reason, who: who)
  }
}
