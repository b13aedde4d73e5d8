import Foundation
import Reconciliation
import TestSupport
import Testing
import Domain
import Providers

@testable import Pipeline

private let now = Instant(milliseconds: 1_772_323_200_000)

@Suite("The configuration is read completely, or the wrong key is named")
struct ConfigurationTests {
  private func configuration(_ text: String) throws -> Configuration {
    let folder = try TemporaryFolder()
    let path = try folder.write(text, to: "subledger.yaml")
    return try GivenSettings(flags: ["config": [path]], environment: [:]).accepted()
  }

  private func asOf(_ text: String) throws -> Instant {
    let folder = try TemporaryFolder()
    let flags = ["config": [try folder.write(text, to: "subledger.yaml")]]
    return try Plan(flags: flags, environment: [:], now: now).rules.asOf
  }

  @Test("A date without quotes is the start of that day in the reports' time zone")
  func unquotedDate() throws {
    let berlin = try asOf("as_of: 2026-11-20\ntimezone: Europe/Berlin\n")
    #expect(berlin.text == "2026-11-19T23:00:00Z")
    #expect(try asOf("as_of: \"2026-11-20\"\ntimezone: Europe/Berlin\n") == berlin)
    #expect(try asOf("as_of: 2026-11-20\n").text == "2026-11-20T00:00:00Z")
    let instant = try asOf("as_of: 2026-11-20T06:00:00Z\ntimezone: Europe/Berlin\n")
    #expect(instant.text == "2026-11-20T06:00:00Z")
    #expect(try asOf("timezone: Europe/Berlin\n") == now)
  }

  @Test("Shares are exact, as fractions and in percent")
  func shares() throws {
    #expect(try configuration("materiality: 0.005").materialityShare == Amount(micros: 5_000))
    #expect(try configuration("materiality: 0.000001").materialityShare == Amount(micros: 1))
    #expect(try configuration("materiality: 0.5%").materialityShare == Amount(micros: 5_000))
    #expect(try configuration("materiality: 1").materialityShare == Amount(micros: 1_000_000))
    #expect(try configuration("materiality: 500%").materialityShare == Amount(micros: 5_000_000))
    let limits = try configuration("limits: {rejected_share: 2%, value_bytes: 1024}")
    #expect(limits.rejectedShare == Amount(micros: 20_000))
    #expect(limits.valueBytesMax == 1024)
  }

  @Test("Omitted severity thresholds keep their defaults")
  func severity() throws {
    let read = try configuration(
      "breaks: {severity_usd: {high: 0.99, medium: 0.5}, severity_days: {critical: 90}}")
    #expect(read.severity.amounts[.medium] == Amount(micros: 500_000))
    #expect(read.severity.amounts[.high] == Amount(micros: 990_000))
    #expect(read.severity.amounts[.critical] == Amount(micros: 500_000_000))
    #expect(read.severity.days == [.medium: 8, .high: 31, .critical: 90])
    let large = try configuration("breaks: {severity_usd: {critical: 2500000}}")
    #expect(large.severity.amounts[.critical] == Amount(micros: 2_500_000_000_000))
  }

  @Test("Products, periods, names and windows are read in every form")
  func vocabulary() throws {
    let read = try configuration(
      """
      products:
        one: com.example.one
        two: [a, b]
        three: {ids: [c], period: P1Y}
      periods: {a: P1M, b: P7D}
      event_names: {my_renewal: renewed}
      delivery_window: {flobuk: 41h10m}
      renewal_gap: 36h
      snapshots: {paths: [x, y], complete: true}
      archives: [1, in]
      """)
    #expect(read.products == ["one": ["com.example.one"], "two": ["a", "b"], "three": ["c"]])
    #expect(read.periods == ["a": .months(1), "b": .days(7), "c": .months(12)])
    #expect(read.reading.eventNames == ["my_renewal": .renewed])
    #expect(read.deliveryWindows == [.flobuk: .minutes(2470)])
    #expect(read.renewalGap == .hours(36))
    #expect(read.job.snapshots == ["x", "y"])
    #expect(read.job.archives == ["1", "in"])
    #expect(read.snapshotsAreComplete)
    #expect(try configuration("").job.archives.isEmpty)
  }

  @Test(
    "A wrong value is reported with its key",
    arguments: [
      ("renewal_gapp: 24h", "`renewal_gapp`"), ("renewal_gap: soon", "`renewal_gap`"),
      ("renewal_gap: -5", "`renewal_gap`"), ("limits: {values: 1}", "`limits.values`"),
      ("limits: {value_bytes: many}", "`limits.value_bytes`"),
      ("limits: {value_bytes: 0}", "`limits.value_bytes`"),
      ("limits: {value_bytes: 9223372036854775807}", "`limits.value_bytes`"),
      ("limits: {value_bytes: 1073741825}", "from 1 to 1073741824"),
      ("renewal_gap: 9223372036854775807", "`renewal_gap`"), ("renewal_gap: 36526d", "36525d"),
      ("delivery_window: {flobuk: 3155760001}", "`delivery_window.flobuk`"),
      ("products: {a: {id: b}}", "`products.a.id`"), ("products: [a]", "`products`"),
      ("products: {a: {period: P1Y}}\nperiods: {a: P1M}", "`periods.a`"),
      ("periods: {a: P+1M}", "`periods.a`"), ("periods: {a: PM}", "`periods.a`"),
      ("periods: {a: 1M}", "`periods.a`"), ("event_names: {a: renewal}", "`event_names.a`"),
      ("delivery_window: {apple: 1h}", "`delivery_window.apple`"),
      ("snapshots: {complete: maybe}", "`snapshots.complete`"), ("jobs: 1.5", "`jobs`"),
      ("jobs: 0", "from 1 to 256"), ("min_age: 1000001", "from 0 to 1000000"),
      ("amount_decimals: 7", "from 0 to 6"), ("verbose: loud", "`verbose`"),
      ("dry_run: 2", "`dry_run`"), ("out: [a]", "`out`"), ("archives:", "`archives`"),
      ("breaks: {severity: 1}", "`breaks.severity`"), ("breaks: [high]", "`breaks`"),
      ("breaks: {severity_usd: {low: 1}}", "`breaks.severity_usd.low`"),
      ("breaks: {severity_usd: {high: lots}}", "`breaks.severity_usd.high`"),
      ("breaks: {severity_usd: {high: -0.99}}", "`breaks.severity_usd.high`"),
      ("materiality: -0.5%", "`materiality`"), ("materiality: 5", "`materiality`"),
      ("materiality: 0.00005%", "`materiality`"),
      ("breaks: {severity_usd: {high: 501}}", "`breaks.severity_usd`"),
      ("breaks: {severity_days: {info: 1}}", "`breaks.severity_days.info`"),
      ("breaks: {severity_days: {high: soon}}", "`breaks.severity_days.high`"),
      ("breaks: {severity_days: {critical: 30}}", "`breaks.severity_days`"),
      ("snapshot: [a]", "Did you mean snapshots?"), ("secrets: {iaptic: ~}", "{env: NAME}"),
      ("secrets: {iaptic: [null]}", "{env: NAME}"),
      ("config: other.yaml", "`config`"), ("materiality: lots", "`materiality`"),
      ("- a\n- b", "a list is not a mapping"), ("out: [", "YAML"), ("out: a\nout: b", "`out`"),
    ])
  func wrong(text: String, key: String) throws {
    let error = try #require(throws: SubledgerError.self) { try configuration(text) }
    #expect(error.kind == .configuration, "\(error)")
    #expect(error.message.contains(key), "\(error)")
    #expect(!error.hint.isEmpty)
  }

  @Test("The example configuration is valid with every comment read as a setting")
  func example() throws {
    let lines = try Project.text(of: "subledger.example.yaml").split(separator: "\n")
    let read = try configuration(
      lines.map { $0.wholeMatch(of: /#([a-z]| {2}).*/) == nil ? $0 : $0.dropFirst() }
        .joined(separator: "\n"))
    #expect(read.products["pro_yearly"] == ["com.example.pro.yearly", "pro-yearly:standard"])
    #expect(read.periods["pro-yearly:standard"] == .months(12))
    #expect(read.reading.eventNames == ["my_renewal_event": .renewed])
    #expect(read.secrets[.iaptic]?.count == 2)
    // The documented values are the defaults.
    let rules = FoldSettings(asOf: now)
    for provider in Provider.allCases {
      #expect(read.deliveryWindows[provider] == rules.deliveryWindow(provider))
      #expect(read.retrySchedules[provider] == provider.interface.retries)
    }
  }

  @Test("The committed example configuration is the one that the program writes")
  func committedExample() throws {
    let committed = try Project.text(of: "subledger.example.yaml")
    #expect(committed == NewConfiguration.example, "make settings writes it")
  }

  @Test("Every documented default is the one in effect")
  func defaults() throws {
    var lines: [String] = []
    for setting in Setting.all where !setting.standard.isEmpty {
      let parts = setting.name.split(separator: ".")
      if parts.count == 2, !lines.contains("\(parts[0]):") { lines.append("\(parts[0]):") }
      let place = lines.firstIndex { $0 == "\(parts[0]):" }.map { $0 + 1 } ?? lines.endIndex
      lines.insert(
        (parts.count == 2 ? "  " : "") + "\(parts.last ?? ""): \(setting.standard)", at: place)
    }
    var read = try configuration(lines.joined(separator: "\n"))
    #expect(lines.count > 25)
    let rules = FoldSettings(asOf: now)
    #expect(read.renewalGap == rules.renewalGap && read.retryHorizon == rules.retryHorizon)
    #expect(read.authority == rules.authority)
    #expect(read.valueBytesMax == 16 << 20)
    #expect(read.rejectedShare == Amount(micros: 10_000))
    #expect(read.severity == SeverityThresholds())
    #expect(read.materialityShare == Amount(micros: 5_000))
    (read.renewalGap, read.retryHorizon, read.authority) = (nil, nil, [])
    (read.path, read.source) = (nil, nil)
    read.severity = SeverityThresholds()
    var plain = Configuration()
    plain.severity = read.severity
    #expect("\(read)" == "\(plain)")
  }
}
