import Foundation
import TestSupport
import Testing
import Domain

@testable import Pipeline

@Suite("An option that makes no sense is refused where it was said")
struct SaidOptionTests: PlanSuite {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func expect(
    _ kind: String, _ words: String..., by plan: () throws -> Plan
  ) throws {
    let error = try #require(throws: SubledgerError.self) { _ = try plan() }
    #expect("\(error.kind)" == kind, "\(error)")
    for word in words { #expect(error.message.contains(word), "\(error)") }
    #expect(!error.hint.isEmpty)
  }

  private func flags(_ set: (inout Options) -> Void) -> Options {
    var flags = Options()
    set(&flags)
    return flags
  }

  @Test("A flag and a variable are usage, the file is configuration")
  func origins() throws {
    try expect("usage", "--fail-on Open is unknown") { try plan(flags { $0.failOn = "Open" }) }
    try expect("usage", "SUBLEDGER_FAIL_ON=Open is unknown") {
      try plan(Options(), ["SUBLEDGER_FAIL_ON": "Open"])
    }
    try expect("configuration", "subledger.yaml", "`fail_on: Open` is unknown") {
      try plan(file: "fail_on: Open")
    }
    // Of two layers, the one that is wrong.
    try expect("configuration", "`fail_on: Open`") {
      try plan(flags { $0.failOn = "open" }, file: "fail_on: Open")
    }
  }

  @Test(
    "Values of the file that only the plan understands are the file's, too",
    arguments: [
      "csv_dialect: tsv", "captured_at: 1767225600", "as_of: today", "timezone: Mars/Olympus",
      "log_format: xml", "progress: often",
    ])
  func file(line: String) throws {
    try expect("configuration", "`\(line)`") { try plan(file: line) }
  }

  @Test(
    "A time zone or an instant is refused also where another layer beats it",
    arguments: [
      ("timezone", "Mars/Olympus", "Europe/Berlin"), ("as_of", "today", "2026-11-20"),
      ("captured_at", "1767225600", "2026-11-20"),
    ])
  func beaten(name: String, wrong: String, right: String) throws {
    let variable = "SUBLEDGER_\(name.uppercased())"
    try expect("configuration", "`\(name): \(wrong)`") {
      try plan(Options(), [variable: right], file: "\(name): \(wrong)")
    }
    try expect("usage", "\(variable)=\(wrong)") {
      try plan(flags { $0.set(name, right) }, [variable: wrong])
    }
  }

  @Test("A number out of range is told with its bounds")
  func ranges() throws {
    let error = try #require(throws: SubledgerError.self) {
      try plan(flags { $0.jobs = 2_000_000 })
    }
    #expect(error.message == "--jobs 2000000 is out of range")
    #expect(error.hint == "write a whole number from 1 to 1000000")
    try expect("usage", "SUBLEDGER_MIN_AGE=99999999") {
      try plan(Options(), ["SUBLEDGER_MIN_AGE": "99999999"])
    }
    try expect("configuration", "`jobs`", "from 1 to 1000000") { try plan(file: "jobs: 0") }
  }

  @Test("A variable is true or false in three words each")
  func truth() throws {
    for word in ["1", "true", "yes", "YES"] {
      #expect(try plan(Options(), ["SUBLEDGER_DRY_RUN": word]).isDryRun)
    }
    for word in ["0", "false", "no"] {
      let read = try plan(Options(), ["SUBLEDGER_DRY_RUN": word], file: "dry_run: true")
      #expect(!read.isDryRun, "it beats the file")
    }
    for word in ["on", "y", " ", "2"] {
      try expect("usage", "SUBLEDGER_DRY_RUN=\(word)") {
        try plan(Options(), ["SUBLEDGER_DRY_RUN": word])
      }
    }
  }

  @Test("An empty variable says nothing")
  func emptyVariables() throws {
    let names = OptionName.allCases.filter { $0 != .config }.map(\.variable)
    let empty = Dictionary(uniqueKeysWithValues: names.map { ($0, "") })
    let read = try plan(Options(), empty, file: "archives: [a]\nout: o\nledger: l\ndry_run: true")
    #expect(read.archives == ["a"] && read.out == "o" && read.ledger == "l" && read.isDryRun)
    #expect(try plan(Options(), ["SUBLEDGER_ARCHIVES": ":"], file: "archives: a").archives == ["a"])
  }

  @Test("An empty flag, and an empty text of the file, make no sense")
  func emptyTexts() throws {
    try expect("usage", "--out \"\"") { try plan(flags { $0.out = "" }) }
    try expect("usage", "--ledger \"\"") { try plan(flags { $0.ledger = "" }) }
    try expect("usage", "--archives \"\"") { try plan(flags { $0.archives = ["a", ""] }) }
    try expect("usage", "--config \"\"") { try plan(flags { $0.config = "" }) }
    try expect("configuration", "`out: \"\"`") { try plan(file: "out: \"\"") }
  }

  @Test("How the program talks is said like every other option")
  func talk() throws {
    #expect(try plan().talk.format == .text)
    let read = try plan(file: "log_format: json\nverbose: true\nprogress: never").talk
    #expect(read.format == .json && read.isVerbose && !read.isQuiet && read.progress == .never)
    let variables = [
      "SUBLEDGER_LOG_FORMAT": "text", "SUBLEDGER_VERBOSE": "no", "SUBLEDGER_PROGRESS": "always",
    ]
    let beaten = try plan(Options(), variables, file: "log_format: json\nverbose: true").talk
    #expect(beaten.format == .text && !beaten.isVerbose && beaten.progress == .always)
  }

  @Test("Of quiet and verbose the one holds that was said where it beats the other; else quiet")
  func quietOrVerbose() throws {
    let quiet = try plan(flags { $0.quiet = true }, file: "verbose: true\nprogress: always").talk
    #expect(quiet.isQuiet && !quiet.isVerbose && quiet.progress == .never)
    let verbose = try plan(flags { $0.verbose = true }, ["SUBLEDGER_QUIET": "1"]).talk
    #expect(verbose.isVerbose && !verbose.isQuiet)
    #expect(try plan(file: "verbose: true\nquiet: true").talk.isQuiet)
  }

  @Test("A time without an offset is no instant; a date is the start of its day")
  func offsets() throws {
    func asOf(_ text: String) throws -> String {
      try plan(flags { $0.asOf = text }, file: "timezone: America/New_York").rules.asOf.text
    }
    #expect(try asOf("2026-01-02") == "2026-01-02T05:00:00Z")
    #expect(try asOf("2026-01-02T00:00:00-05:00") == "2026-01-02T05:00:00Z")
    #expect(try asOf("2026-01-02T00:00:00Z") == "2026-01-02T00:00:00Z")
    for text in ["2026-01-02T00:00:00", "2026-01-02 00:00:00.5"] {
      try expect("usage", "--as-of \(text)") { try plan(flags { $0.asOf = text }) }
      try expect("usage", "--captured-at \(text)") { try plan(flags { $0.capturedAt = text }) }
    }
  }
}

private extension Options {
  /// Sets an option of which the value is text.
  mutating func set(_ name: String, _ text: String) {
    if case .text(let path)? = OptionName(rawValue: name)?.slot { self[keyPath: path] = text }
  }
}
