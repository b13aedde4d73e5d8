import Domain
import TestSupport
import Testing

@testable import Pipeline

@Suite("Settings are checked and listed together")
struct GivenSettingsTests {
  let folder: TemporaryFolder
  private let now = Instant(milliseconds: 1_772_323_200_000)

  init() throws { folder = try TemporaryFolder() }

  private func given(
    _ file: String, flags: [String: [String]] = [:], environment: [String: String] = [:]
  ) throws -> GivenSettings {
    let path = try folder.write(file, to: "c.yaml")
    return GivenSettings(
      flags: flags.merging(["config": [path]]) { $1 }, environment: environment)
  }

  @Test("All errors are found at once, each with its line and a hint")
  func all() throws {
    let file = """
      renewal_gapp: 24h
      timezone: Mars/Olympus
      products:
        a: {id: b}
        c: {period: month}
      limits: {value_bytes: 0, share: 1}
      breaks: {severity_usd: {high: lots, medium: more}}
      prices: \(folder.path("none.csv"))
      decisions: \(folder.path("none.yaml"))
      archives: [\(folder.path("none"))]
      secrets: {qonversion: {env: SUBLEDGER_SECRET_Q}, iaptic: {file: \(folder.path("none"))}}
      readers: {here: {}, "s3://": {list: ls, get: "cat {path}"}}
      fetch:
        rate: 0
        purple: {}
        qonversion: {url: x, api: v9, key: {env: NONE}}
        authorities: \(folder.path("own.pem"))
      """
    let environment = ["SUBLEDGER_OTU": "x", "SUBLEDGER_JOBS": "many"]
    let given = try given(file, environment: environment)
    let problems = given.problems(now: now)
    let expected = [
      "SUBLEDGER_OTU", "line 1: unknown key `renewal_gapp`. Did you mean renewal_gap?",
      "line 6: unknown key `limits.share`", "none: No such file", "line 2: `timezone`",
      "line 4: unknown key `products.a.id`", "line 5: `products.c.period`",
      "line 6: `limits.value_bytes`", "line 7: `breaks.severity_usd.high`",
      "line 7: `breaks.severity_usd.medium`", "SUBLEDGER_JOBS", "none.csv", "none.yaml",
      "`secrets.qonversion`", "`secrets.iaptic`", "`readers.here`", "`readers.s3://.list`",
      "unknown key `readers.s3://.get`", "line 14: `fetch.rate`", "unknown key `fetch.purple`",
      "`fetch.qonversion.url`", "`fetch.qonversion.api`", "`fetch.qonversion.key` names", "own.pem",
    ]
    for words in expected {
      #expect(problems.count { $0.message.contains(words) } >= 1, "\(words): \(problems)")
    }
    #expect(problems.count == expected.count, "\(problems)")
    #expect(problems.allSatisfy { !$0.hint.isEmpty }, "\(problems)")
    let zone = try #require(problems.first { $0.message.contains("`timezone`") })
    #expect(zone.hint == "timezone: IANA time zone of days and months. Without it: UTC.")
    let error = #expect(throws: SubledgerError.self) { try given.accepted() }
    let hint = error?.hint ?? ""
    #expect(hint.hasSuffix("`subledger config check` lists all errors"), "\(problems)")
  }

  @Test("Invalid YAML hides only its own entry from the check")
  func syntax() throws {
    let file = """
      timezone: Mars/Olympus
      out: [a, b
      renewal_gapp: 24h
      limits:
        rejected_share: 1
         value_bytes: 0
      products: {a: b, a: c}
      jobs: many
      archives:
      - *gone
      locale: "en
      """
    let problems = try given(file).problems(now: now).map(\.message)
    let expected = [
      "not valid YAML: line 3", "not valid YAML: line 6", "lines 4 to 6 are not checked",
      "line 7: `a` is given twice", "line 10: aliases",
      "lines 9 to 10 are not checked", "not valid YAML: line 11", "line 1: `timezone`",
      "line 3: unknown key `renewal_gapp`", "line 8: `jobs`",
    ]
    for words in expected {
      #expect(problems.count { $0.contains(words) } == 1, "\(words): \(problems)")
    }
    #expect(problems.count == 8, "\(problems)")
    let unknown = try given("out: a\u{1}b\njobs: many\n").problems(now: now)
    #expect(unknown.map { $0.message.hasSuffix("; what follows is not checked") } == [true])
  }

  @Test("Settings without an error report none")
  func none() throws {
    let given = try given("timezone: Europe/Berlin\nproducts: {a: b}\n", flags: ["out": ["x"]])
    #expect(given.problems(now: now).isEmpty)
    #expect(given.summary.hasSuffix("c.yaml: 3 settings given"))
    #expect(throws: Never.self) { try given.accepted() }
  }

  @Test("Each setting is listed with its effective value and source")
  func listing() throws {
    let file = """
      timezone: Europe/Berlin
      out: beaten
      lock_wait: 5
      products: {a: [b, c]}
      """
    let environment = ["SUBLEDGER_LOCK_WAIT": "7"]
    let given = try given(file, flags: ["out": ["flagged"]], environment: environment)
    let rows = try given.listing().split(separator: "\n").map { line in
      line.split(separator: #/  +/#, maxSplits: 2).map(String.init)
    }
    func row(_ name: String) -> [String] { Array(rows.first { $0[0] == name }?.dropFirst() ?? []) }
    #expect(rows.first == ["setting", "source", "value"])
    #expect(rows.count == Setting.all.count + 1)
    #expect(row("out") == ["option --out", "flagged"])
    #expect(row("lock_wait") == ["SUBLEDGER_LOCK_WAIT", "7"])
    #expect(row("timezone") == ["\(folder.path("c.yaml")):1", "Europe/Berlin"])
    #expect(row("products") == ["\(folder.path("c.yaml")):4", "{a: [b, c]}"])
    #expect(row("renewal_gap") == ["default", "24h"])
    #expect(row("as_of") == ["default", "now"])
    let wrong = try self.given("out: [")
    #expect(throws: SubledgerError.self) { try wrong.listing() }
  }

  @Test("No secret is shown, however it is given")
  func masked() throws {
    let given = try given(
      "secrets: {iaptic: hidden, qonversion: [{env: HIDDEN}, {file: /hidden}]}\nledger: l\n")
    let text = try given.listing()
    #expect(!text.lowercased().contains("hidden"), "\(text)")
    #expect(text.contains("{iaptic: ***, qonversion: [{env: ***}, {file: ***}]}"), "\(text)")
  }

  @Test("Every option of the command line is described by its setting")
  func help() {
    #expect(Setting.help("out") == "Folder of the published report set. (default: reports)")
    #expect(Setting.help("captured_at").hasSuffix("file name contain none."))
    #expect(Setting.help("outt").isEmpty)
    #expect(Setting.options.allSatisfy { !Setting.help($0.name).isEmpty })
  }
}
