import Foundation
import EventStore
import Reports
import TestSupport
import Testing
import Domain

@testable import Pipeline

@Suite("A past plan is restored from the ledger")
struct PlanHistoryTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let settings = [
    "timezone: America/New_York", "csv_dialect: excel", "amount_decimals: 3",
    "as_of: 2026-02-03", "captured_at: 2026-02-01", "snapshots: {paths: [s], complete: true}",
    "products: {pro: {ids: [a, b], period: P1Y}}", "periods: {c: P7D}",
    "event_names: {mine: renewed}", "renewal_gap: 36h", "retry_horizon: 30d",
    "freshness_max: {qonversion: 10h, iaptic: {1: 3d, com.example.app: 20d}}",
    "history_begins: {qonversion: 2025-01-01, iaptic: {b: 2025-02-01T10:00:00Z}}",
    "delivery_window: {iaptic: 2h, flobuk: 3h}",
    "delivery_retries: {purple: [1m, 6m]}",
    "breaks: {severity_usd: {medium: 2}, severity_days: {critical: 90}}",
    "limits: {value_bytes: 1000, rejected_share: 2.5%}", "materiality: 0.1%",
  ]

  @Test("Every option is restored, alone and with all others", arguments: 0...settings.count)
  func everyOption(index: Int) throws {
    let all = index == Self.settings.count
    let text = all ? Self.settings.joined(separator: "\n") : Self.settings[index]
    try expectSame(as: try plan(text, files: all))
  }

  @Test("Every effective option is stored with a run, except the version, which is separate")
  func optionNames() throws {
    let reported = try plan("timezone: UTC", files: false).effectiveOptions
    #expect(Set(reported.keys + ["version"]) == Set(EffectiveOption.allCases.map(\.rawValue)))
    #expect(reported["version"] == nil)
  }

  @Test("A price book and decisions are restored with the time zone of their dates")
  func files() throws {
    let plan = try plan("timezone: Asia/Tokyo", files: true)
    #expect(plan.prices?.lines.count == 1)
    #expect(plan.decisions.decisions.count == 1)
    try expectSame(as: plan)
  }

  @Test("Options that contradict the stored documents are refused")
  func contradiction() throws {
    let plan = try plan("renewal_gap: 36h", files: false)
    var documents = plan.documents()
    documents.configuration = nil
    #expect(throws: SubledgerError.self) { try plan.following(row(of: plan), documents) }
    var damaged = plan.documents()
    damaged.configuration?.body[20] ^= 1
    #expect(throws: SubledgerError.self) { try plan.following(row(of: plan), damaged) }
  }

  private func expectSame(as plan: Plan) throws {
    let other = try self.plan("", files: false)
    let again = try other.following(row(of: plan), plan.documents())
    #expect(again.effectiveOptions == plan.effectiveOptions)
    #expect(again.configuration.products == plan.configuration.products)
    #expect(again.prices == plan.prices)
    #expect(again.decisions.decisions == plan.decisions.decisions)
    #expect(again.rules.deliveryWindows == plan.rules.deliveryWindows)
    #expect(again.configuration.retrySchedules == plan.configuration.retrySchedules)
    #expect(again.capturedAt == other.capturedAt)
  }

  private func plan(_ configuration: String, files: Bool) throws -> Plan {
    var flags = ["config": [try folder.write(configuration + "\n", to: "c.yaml")]]
    if files {
      flags["prices"] = [
        try folder.write(
          """
          store,product_id,country,currency,valid_from,amount,amount_usd,proceeds_rate,period
          app_store,com.example.pro,,USD,2025-01-01,9.99,9.99,70,P1M

          """, to: "p.csv")
      ]
      flags["decisions"] = [
        try folder.write(
          "- {break_id: \"b-0123456789abcdef\", decision: explained, reason: r, who: w}\n",
          to: "d.yaml")
      ]
    }
    return try Plan(flags: flags, environment: [:], now: Instant(seconds: 1_770_000_000))
      .withLists()
  }

  private func row(of plan: Plan) throws -> RunRow {
    let ledger = try Ledger.open(
      path: folder.path("\(UUID().uuidString).sqlite"), mode: .readWrite)
    let run = try ledger.beginRun(
      asOf: plan.rules.asOf, version: "1", options: plan.optionsText,
      documents: plan.documents())
    return try #require(try ledger.run(run))
  }
}
