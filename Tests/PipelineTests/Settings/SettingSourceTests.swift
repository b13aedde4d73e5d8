import Foundation
import Logging
import TestSupport
import Testing
import Domain

@testable import Pipeline

@Suite("A wrong setting is reported at its source")
struct SettingSourceTests: PlanSuite {
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

  @Test("A wrong flag or variable is a usage error; a wrong file is a configuration error")
  func origins() throws {
    try expect("usage", "--fail-on: \"Open\" is not one of none, pending") {
      try plan(["fail_on": ["Open"]])
    }
    try expect("usage", "SUBLEDGER_FAIL_ON: \"Open\" is not one of") {
      try plan([:], ["SUBLEDGER_FAIL_ON": "Open"])
    }
    try expect("configuration", "subledger.yaml, line 1: `fail_on`: \"Open\" is not") {
      try plan(file: "fail_on: Open")
    }
    // Of two layers, the wrong one is reported.
    try expect("configuration", "`fail_on`: \"Open\"") {
      try plan(["fail_on": ["open"]], file: "fail_on: Open")
    }
  }

  @Test(
    "Values that only the plan validates are configuration errors of the file, too",
    arguments: [
      "csv_dialect: tsv", "captured_at: 1767225600", "as_of: today", "timezone: Mars/Olympus",
      "log_format: xml", "progress: often",
    ])
  func file(line: String) throws {
    try expect("configuration", "subledger.yaml, line 1: `\(line.prefix { $0 != ":" })`: ") {
      try plan(file: line)
    }
  }

  @Test(
    "A wrong time zone or instant is refused even if another layer overrides it",
    arguments: [
      ("timezone", "Mars/Olympus", "Europe/Berlin"), ("as_of", "today", "2026-11-20"),
      ("captured_at", "1767225600", "2026-11-20"),
    ])
  func beaten(name: String, wrong: String, right: String) throws {
    let variable = "SUBLEDGER_\(name.uppercased())"
    try expect("configuration", "`\(name)`: ", "\"\(wrong)\"") {
      try plan([:], [variable: right], file: "\(name): \(wrong)")
    }
    try expect("usage", "\(variable): ", "\"\(wrong)\"") {
      try plan([name: [right]], [variable: wrong])
    }
  }

  @Test("A number out of range is reported with its limits")
  func ranges() throws {
    let error = try #require(throws: SubledgerError.self) {
      try plan(["jobs": ["257"]])
    }
    #expect(error.message == "option --jobs: \"257\" is not a whole number from 1 to 256")
    try expect("usage", "SUBLEDGER_MIN_AGE: \"99999999\"") {
      try plan([:], ["SUBLEDGER_MIN_AGE": "99999999"])
    }
    try expect("configuration", "`jobs`", "from 1 to 256") { try plan(file: "jobs: 0") }
  }

  @Test("A variable is true or false in four spellings each, in any case")
  func truth() throws {
    for word in ["1", "true", "yes", "on", "YES"] {
      #expect(try plan([:], ["SUBLEDGER_DRY_RUN": word]).isDryRun)
    }
    for word in ["0", "false", "no", "off"] {
      let read = try plan([:], ["SUBLEDGER_DRY_RUN": word], file: "dry_run: true")
      #expect(!read.isDryRun, "it beats the file")
    }
    for word in ["y", " ", "2"] {
      try expect("usage", "SUBLEDGER_DRY_RUN: \"\(word)\"") {
        try plan([:], ["SUBLEDGER_DRY_RUN": word])
      }
    }
  }

  @Test("An empty variable is not set")
  func emptyVariables() throws {
    let names = Setting.options.map { "SUBLEDGER_\($0.name.uppercased())" }
    let empty = Dictionary(uniqueKeysWithValues: names.map { ($0, "") })
    let read = try plan([:], empty, file: "archives: [a]\nout: o\nledger: l\ndry_run: true")
    #expect(read.archives == ["a"] && read.out == "o" && read.ledger == "l" && read.isDryRun)
    #expect(try plan([:], ["SUBLEDGER_ARCHIVES": ":"], file: "archives: a").archives == ["a"])
  }

  @Test("An empty flag or an empty text in the file is refused")
  func emptyTexts() throws {
    try expect("usage", "--out: \"\" is empty") { try plan(["out": [""]]) }
    try expect("usage", "--ledger: \"\" is empty") { try plan(["ledger": [""]]) }
    try expect("usage", "--archives: \"\" is empty") { try plan(["archives": ["a", ""]]) }
    try expect("usage", "--config: \"\" is empty") { try plan(["config": [""]]) }
    try expect("configuration", "`out`: \"\" is empty") { try plan(file: "out: \"\"") }
  }

  @Test("Log settings are given like all other settings")
  func log() throws {
    #expect(try plan().log.format == .text)
    let read = try plan(file: "log_format: json\nverbose: true\nprogress: never").log
    #expect(read.format == .json && read.level == .info && read.progress == .never)
    let variables = [
      "SUBLEDGER_LOG_FORMAT": "text", "SUBLEDGER_VERBOSE": "no", "SUBLEDGER_PROGRESS": "always",
    ]
    let beaten = try plan([:], variables, file: "log_format: json\nverbose: true").log
    #expect(beaten.format == .text && beaten.level == .warning && beaten.progress == .always)
  }

  @Test("Of quiet and verbose the one with higher precedence wins; on the same level, quiet")
  func quietOrVerbose() throws {
    let quiet = try plan(["quiet": ["true"]], file: "verbose: true\nprogress: always").log
    #expect(quiet.level == .error)
    let verbose = try plan(["verbose": ["true"]], ["SUBLEDGER_QUIET": "1"]).log
    #expect(verbose.level == .info)
    #expect(try plan(file: "verbose: true\nquiet: true").log.level == .error)
  }

  @Test("An unknown name is refused with the nearest known one")
  func suggestions() throws {
    try expect("usage", "unknown environment variable SUBLEDGER_OTU. Did you mean SUBLEDGER_OUT?") {
      try plan([:], ["SUBLEDGER_OTU": "x"])
    }
    try expect(
      "usage", "--timezone: unknown time zone \"Europe/Berln\". Did you mean Europe/Berlin?"
    ) {
      try plan(["timezone": ["Europe/Berln"]])
    }
    try expect(
      "configuration",
      "line 2: unknown key `limits.valuebytes`. Did you mean limits.value_bytes?"
    ) {
      try plan(file: "limits:\n  valuebytes: 1")
    }
    try expect(
      "configuration",
      "line 1: unknown key `delivery_window.iaptik`. Did you mean delivery_window.iaptic?"
    ) {
      try plan(file: "delivery_window: {iaptik: 1h}")
    }
  }

  @Test("A time without an offset is not an instant; a date is the start of its day")
  func offsets() throws {
    func asOf(_ text: String) throws -> String {
      try plan(["as_of": [text]], file: "timezone: America/New_York").rules.asOf.text
    }
    #expect(try asOf("2026-01-02") == "2026-01-02T05:00:00Z")
    #expect(try asOf("2026-01-02T00:00:00-05:00") == "2026-01-02T05:00:00Z")
    #expect(try asOf("2026-01-02T00:00:00Z") == "2026-01-02T00:00:00Z")
    for text in ["2026-01-02T00:00:00", "2026-01-02 00:00:00.5"] {
      try expect("usage", "--as-of: \"\(text)\"") { try plan(["as_of": [text]]) }
      try expect("usage", "--captured-at: \"\(text)\"") { try plan(["captured_at": [text]]) }
    }
  }
}
