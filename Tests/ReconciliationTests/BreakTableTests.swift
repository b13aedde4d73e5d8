import Domain
import Foundation
import TestSupport
import Testing

@testable import Reconciliation

@Suite("The break codes in docs/reports.md")
struct BreakTableTests {
  /// `WRITE_DOCS=1 swift test --filter BreakTableTests` writes them.
  @Test("The codes in the document are those that the checks declare")
  func entries() throws {
    let path = Project.path("docs/reports.md")
    let text = try Project.text(of: "docs/reports.md")
    let parts = text.components(separatedBy: "### Break codes\n\n")
    try #require(parts.count == 2)
    let rest = parts[1].components(separatedBy: "\n\n## ").dropFirst().joined(separator: "\n\n## ")
    let expected = "\(parts[0])### Break codes\n\n\(BreakTable.text(after: parts[1]))\n\n## \(rest)"
    if ProcessInfo.processInfo.environment["WRITE_DOCS"] != nil {
      try expected.write(toFile: path, atomically: true, encoding: .utf8)
    }
    #expect(text == expected, "run WRITE_DOCS=1 swift test --filter BreakTableTests")
  }

  @Test("Every code has a condition and an action", arguments: BreakCode.allCases)
  func complete(code: BreakCode) throws {
    let isDeclared = BreakTable.conditions.contains { $0.codes.contains(code) }
    let text = try Project.text(of: "docs/reports.md")
    #expect(isDeclared || BreakTable.condition(of: code, in: text)?.isEmpty == false)
    #expect(!code.action(at: .flobuk).isEmpty)
  }
}

/// The break codes in the reference, generated from the checks.
enum BreakTable {
  /// All conditions in the order of evaluation.
  static var conditions: [BreakCondition] { Reconciler.checks.flatMap { $0.conditions } }

  /// The condition in a document of a code that no user's reconciliation raises.
  static func condition(of code: BreakCode, in document: String) -> String? {
    document.split(separator: "\n").first { $0.hasPrefix("- `\(code.rawValue)`") }.flatMap { line in
      line.firstRange(of: ": ").map { String(line[$0.upperBound...]) }
    }
  }

  /// An entry for each code with its own condition or severity, in the order of the codes, then one
  /// for each condition of several codes; conditions that no check declares stay as they are in
  /// `document`.
  static func text(after document: String) -> String {
    let codes = BreakCode.allCases.compactMap { code -> String? in
      var own = conditions.filter { $0.codes == [code] }.map { $0.condition }
      if !conditions.contains(where: { $0.codes.contains(code) }) {
        own = [condition(of: code, in: document) ?? ""]
      }
      if own.isEmpty && code.severity == nil { return nil }
      let severity = code.severity.map { " (\($0.rawValue))" } ?? ""
      return "- `\(code.rawValue)`\(severity): \(own.joined(separator: "; "))"
    }
    let shared = conditions.filter { $0.codes.count > 1 }.map { condition in
      let codes = condition.codes.map { "`\($0.rawValue)`" }.joined(separator: ", ")
      return "- \(codes): \(condition.condition)"
    }
    return (codes + ["", "Conditions of several codes:", ""] + shared).joined(separator: "\n")
  }
}
