import Foundation
import TestSupport
import Testing
import Domain

@testable import EventStore
@testable import Pipeline

@Suite("Options become a plan")
struct PlanTests: PlanSuite {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("A flag beats the environment, which beats the file, which beats the default")
  func precedence() throws {
    var flags: [String: [String]] = [:]
    #expect(try plan().out == "reports")
    #expect(try plan(file: "out: file").out == "file")
    let variables = ["SUBLEDGER_OUT": "variable", "PATH": "/bin"]
    #expect(try plan(flags, variables, file: "out: file").out == "variable")
    flags["out"] = ["flag"]
    #expect(try plan(flags, variables, file: "out: file").out == "flag")
    // Each option separately.
    let mixed = try plan(flags, ["SUBLEDGER_LEDGER": "l"], file: "jobs: 3\nledger: x")
    #expect(mixed.out == "flag" && mixed.ledger == "l" && mixed.jobs == 3)
  }

  @Test("Lists in the environment are separated by colons")
  func lists() throws {
    let read = try plan(
      [:], ["SUBLEDGER_ARCHIVES": "s3://k/x:a:b/c:gs://y", "SUBLEDGER_DRY_RUN": "yes"])
    #expect(read.archives == ["s3://k/x", "a", "b/c", "gs://y"])
    #expect(read.isDryRun)
  }

  @Test(
    "A variable with an invalid value is a usage error",
    arguments: [
      ("SUBLEDGER_OTU", "x"), ("SUBLEDGER_JOBS", "two"), ("SUBLEDGER_AS_OF", "today"),
      ("SUBLEDGER_FAIL_ON", "often"), ("SUBLEDGER_TIMEZONE", "Mars/Olympus"),
      ("SUBLEDGER_LOCK_WAIT", "-1"),
    ])
  func wrong(name: String, value: String) throws {
    let error = try #require(throws: SubledgerError.self) { try plan([:], [name: value]) }
    #expect(error.kind == .usage, "\(error)")
  }

  @Test("Archives younger than --min-age by the clock are left alone")
  func youngArchives() throws {
    var flags: [String: [String]] = [:]
    #expect(try !plan(flags).isTooYoung(now))
    flags["min_age"] = ["60"]
    let waiting = try plan(flags)
    #expect(waiting.isTooYoung(now - .seconds(59)) && !waiting.isTooYoung(now - .seconds(60)))
    #expect(!waiting.isTooYoung(nil))
  }

  @Test("A sum beyond the range of amounts is an overflow error")
  func failures() {
    #expect(SubledgerError(AmountOverflow()).kind == .overflow)
  }
}

@Suite("Durations and shares as people write them")
struct UnitTests {
  @Test(
    "Units add up",
    arguments: [
      ("90s", 90), ("10m", 600), ("24h", 86_400), ("60d", 5_184_000), ("2592000s", 2_592_000),
    ])
  func units(text: String, seconds: Int64) {
    #expect(Interval(units: text) == .seconds(seconds))
    #expect(Interval(units: "1d" + text) == .seconds(86_400 + seconds))
  }

  @Test(
    "Other texts are not durations", arguments: ["", "h", "24", "1.5h", "-1h", "24 h", "1w", "１h"])
  func wrong(text: String) {
    #expect(Interval(units: text) == nil)
  }

  @Test("A plain decimal is exact to the millionth")
  func decimals() {
    #expect(Amount(typed: "0.005") == Amount(micros: 5_000))
    #expect(Amount(typed: "12") == Amount(micros: 12_000_000))
    #expect(Amount(typed: "0.0000001") == nil)
    for text in ["", ".", "-1", "+1", "1.", ".5", "1e-6", "1.2.3", "one", "１"] {
      #expect(Amount(typed: text) == nil)
    }
  }
}
