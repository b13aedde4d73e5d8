import Foundation
import EventStore
import Reconciliation
import TestSupport
import Testing
import Domain

@testable import Pipeline

@Suite("The decisions file is read completely, or the wrong line is named")
struct DecisionsFileTests {
  private func read(_ text: String) throws -> DecisionsFile {
    try DecisionsFile(Array(text.utf8), named: "decisions.yaml")
  }

  private let good = "- {break_id: b-00000000000000ab, decision: explained, reason: r, who: w}\n"

  @Test("Entries are read in order, with texts as written")
  func entries() throws {
    let file = try read(
      """
      # Why a comment: reviewers read it.
      - break_id: b-0123456789012345
        decision: written_off
        reason: |
          two lines,
          one reason
        who: 42
      - break_id: b-1e34567890123456
        decision: explained
        reason: "yes"
        who: no
      """)
    #expect(
      file.decisions == [
        Decision(
          breakID: "b-0123456789012345", verdict: .writtenOff, reason: "two lines,\none reason",
          who: "42"),
        Decision(breakID: "b-1e34567890123456", verdict: .explained, reason: "yes", who: "no"),
      ])
    #expect(file.sha256?.count == 64)
  }

  @Test("The example of docs/operations.md is a valid decisions file")
  func example() throws {
    let guide = try Project.text(of: "docs/operations.md")
    let block = try #require(
      guide.components(separatedBy: "```\n").first { $0.contains("decisions.yaml\n- break_id") })
    #expect(try read(block).decisions.map(\.verdict) == [.explained, .writtenOff])
  }

  @Test("An empty file decides nothing", arguments: ["", "# nothing yet\n", "[]\n", "---\n"])
  func empty(text: String) throws {
    #expect(try read(text).decisions.isEmpty)
  }

  @Test(
    "An error is reported with its line and entry",
    arguments: [
      ("decisions: []", "line 1: the file is not a list"),
      ("explained", "line 1: the file is not a list"),
      ("- b-00000000000000ab", "line 1: \"b-00000000000000ab\" is not a mapping"),
      ("\n- {break_id: b-00000000000000ab}", "line 2: the entry lacks `decision`, `reason`, `who`"),
      ("when: today", "line 6: unknown key `when`"),
      ("decision: open", "line 5: `decision`: \"open\" is not explained or written_off"),
      ("break_id: b-00000000000000AB", "line 5: `break_id`: "),
      ("break_id: abc", "line 5: `break_id`: "),
      ("reason: ''", "line 5: `reason`: "),
      ("reason:", "line 5: `reason`: "), ("who: ~", "line 5: `who`: "),
      ("who: [a, b]", "line 5: `who`: a list is not a text"),
      (
        "break_id: b-00000000000000ab",
        "line 2: break b-00000000000000ab is already decided in line 1"
      ),
      ("who: a\n  who: b", "`who` is given twice"), ("who: [", "not valid YAML"),
    ])
  func wrong(text: String, message: String) throws {
    let isWhole = text.hasPrefix("-") || text.hasPrefix("\n") || message.hasPrefix("line 1")
    let error = try #require(throws: SubledgerError.self) {
      try read(isWhole && !message.contains("YAML") ? text : entry(with: text))
    }
    #expect(error.kind == .configuration, "\(error)")
    #expect(error.message.contains(message), "\(error)")
    #expect(error.message.contains("decisions.yaml"))
  }

  /// A valid entry, and a second one that is valid except for the last line of `text`.
  private func entry(with text: String) -> String {
    let name = text.prefix { $0 != ":" }
    let fields = [
      "break_id: b-00000000000000cd", "decision: explained", "reason: because", "who: me",
    ].filter { !$0.hasPrefix("\(name):") }
    return good + "- " + (fields + [text]).joined(separator: "\n  ") + "\n"
  }

  @Test("Wrong entries are reported together")
  func together() throws {
    let error = try #require(throws: SubledgerError.self) {
      try read(entry(with: "who: ~") + "- b-1\n" + good)
    }
    let lines = error.message.split(separator: "\n")
    #expect(lines.count == 3)
    let places = ["line 5: `who`", "line 6: \"b-1\"", "line 7: break b-00000000000000ab is"]
    for (line, place) in zip(lines, places) {
      #expect(line.contains("decisions.yaml, \(place)"), "\(error)")
    }
  }

  @Test("Decided breaks are set apart, and decisions without a break of the run are unused")
  func decided() throws {
    let breaks = ["a", "b", "c"].map { Break(id: $0, code: .late, provider: .qonversion) }
    let decisions = [("a", Decision.Verdict.explained), ("c", .writtenOff), ("d", .writtenOff)]
    let decided = try DecidedBreaks(
      breaks, decisions.map { Decision(breakID: $0, verdict: $1, reason: "r", who: "w") })
    #expect(decided.undecided.map(\.id) == ["b"])
    #expect(
      decided.counts == [
        "breaks_explained": 1, "breaks_written_off": 1, "decisions": 3, "decisions_unused": 1,
      ])
    #expect(decided.unused == ["d"])
  }

  @Test("A decision can name a break by the id derived from its transaction")
  func alias() throws {
    var lost = Break(id: "b-0000000000000001", code: .missedRenewal, provider: .qonversion)
    (lost.subscription, lost.transaction) = ("100", "102")
    var next = lost
    (next.id, next.transaction) = ("b-0000000000000002", "103")
    let id = try #require(lost.idsOfTransaction.first)
    #expect(lost.idsOfTransaction.count == 2)
    let given = Decision(breakID: id, verdict: .writtenOff, reason: "r", who: "w")
    #expect(try DecidedBreaks([lost, next], [given]).undecided == [next])
    #expect(try DecidedBreaks([next], [given]).unused == [id])
    // Also by that which it had before its app was known.
    var named = lost
    named.app = "app"
    #expect(try DecidedBreaks([named], [given]).undecided == [])
    // A decision about the break's own id takes precedence.
    let own = Decision(breakID: lost.id, verdict: .explained, reason: "r", who: "w")
    #expect(try DecidedBreaks([lost], [own, given]).decisions == [own])
    #expect(try DecidedBreaks([lost], [given, own]).decisions == [own])
  }
}
