import Foundation
import TestSupport
import Testing

@Suite("Foreign names cannot imitate the program's messages")
struct HostileTextTests {
  /// An escape sequence, a reversed direction, and a line that imitates the program's own.
  private let hostile = "\u{1b}]0;x\u{07}\u{9b}31m\u{202e}\u{200b}\u{2028}x\nsubledger: all is well"
  private let shown =
    #"\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{200b}\u{2028}x\u{a}subledger: all is well"#

  private func expectShown(_ text: String, lines: Int) {
    #expect(text.contains(shown), "\(text)")
    #expect(text.split(separator: "\n").count == lines, "\(text)")
    for scalar in text.unicodeScalars where scalar != "\n" {
      #expect(!["Cc", "Cf", "Zl", "Zp"].contains(category(scalar)), "U+\(scalar.value)")
    }
  }

  private func category(_ scalar: Unicode.Scalar) -> String {
    switch scalar.properties.generalCategory {
    case .control: "Cc"
    case .format: "Cf"
    case .lineSeparator: "Zl"
    case .paragraphSeparator: "Zp"
    default: ""
    }
  }

  @Test("A damaged archive's name stays on one log line, as text and as JSON")
  func log() throws {
    let program = try Program()
    let path = try program.folder.write(bodies(3), to: "in/\(hostile)")
    let packed = try Array(gzip("-nc", path))
    try program.folder.write(Array(packed.dropLast(9)), to: "in/\(hostile)")
    let run = ["run", "--archives", "in", "--as-of", "2026-03-01"]
    for format in ["text", "json"] {
      let options = ["--log-format", format, "--ledger", "\(format).sqlite", "--out", format]
      let result = try program.run(run + options).ended(0)
      let errors = result.errors.replacing(#"\\u{"#, with: #"\u{"#)
      expectShown(errors, lines: 1)
      #expect(errors.contains("is damaged at byte"))
    }
    let manifest = try program.published(in: "json")["datapackage.json"] ?? Data()
    let text = String(decoding: manifest, as: UTF8.self)
    #expect(text.contains(#"\\u{1b}]0;x"#), "the manifest names it as inputs.csv does")
  }

  @Test("An error about a path is one message and one hint")
  func errors() throws {
    let program = try Program()
    let result = try program.run(["run", "--archives", hostile]).ended(66)
    expectShown(result.errors, lines: 2)
    let report = try program.run(["report", "--ledger", hostile])
    expectShown(report.errors, lines: 2)
    #expect(report.errors.contains("\n  hint: check the path"))
  }

  @Test("Status keeps an app's id and the ledger's name on their lines")
  func status() throws {
    let program = try Program()
    var body = Body()
    body.members["app_id"] =
      #""\u001b]0;x\u0007\u009b31m\u202e\u200b\u2028x\nsubledger: all is well""#
    try program.folder.write(body.line, to: "in/a.jsonl")
    let options = ["--ledger", hostile]
    #expect(try program.run(["ingest", "--archives", "in"] + options).status == 0)
    let result = try program.run(["status"] + options)
    let lines = result.output.split(separator: "\n").count
    expectShown(result.output, lines: lines)
    #expect(result.output.contains("  qonversion  \(shown)"))
    #expect(result.output.contains("ledger                  \(shown)"))
    #expect(lines < 13, "\(result)")
  }
}
