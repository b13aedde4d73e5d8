import Reconciliation
import Testing
import Domain

@Suite("A listed transaction whose provider never sends a date")
struct InferredDateTests {
  private func undated(
    _ id: Int, until end: String, original: String = "100"
  ) -> SnapshotTransaction {
    bought(id, .unknown, "2026-01-01", until: end) {
      $0.at = nil
      $0.originalID = original
    }
  }

  private func scenario(
    _ stories: [Story], until end: String, started: String? = nil, at capturedAt: String,
    listing transaction: SnapshotTransaction
  ) -> Scenario {
    Scenario(
      stories: stories,
      entitlements: [premium(until: end, started: started, listing: [transaction])],
      capturedAt: capturedAt)
  }

  @Test("A missing renewal is one break at the end that it extended, and waits for its window")
  func prolonged() {
    var scenario = scenario(
      [.monthly(renewals: 0, counted: false)], until: "2026-03-01", at: "2026-02-01T01:00:00",
      listing: undated(101, until: "2026-03-01"))
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    #expect(scenario.breaks.first?.status == .pending)
    #expect(scenario.breaks.first?.expectedAt == at("2026-02-01"))
    scenario.capturedAt = "2026-02-20"
    #expect(scenario.breaks.map(\.status) == [.open])
    #expect(scenario.breaks.map(\.transaction) == ["101"])
  }

  @Test("Of two missing periods, the listed one began a period before its end")
  func twoPeriods() {
    let scenario = scenario(
      [.monthly(renewals: 0, counted: false)], until: "2026-04-01", at: "2026-03-20",
      listing: undated(102, until: "2026-04-01"))
    #expect(scenario.breaks.first { $0.transaction == "102" }?.expectedAt == at("2026-03-01"))
  }

  @Test("A renewal shown before the end that it extends is not in the future")
  func early() {
    let scenario = scenario(
      [.monthly(renewals: 0, counted: false)], until: "2026-03-01", at: "2026-01-31T12:00:00",
      listing: undated(101, until: "2026-03-01"))
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    #expect(scenario.breaks.first?.expectedAt == at("2026-01-31T11:59:59"))
  }

  @Test("A purchase that began or ended before the app's first event is not missing")
  func beforeOurTime() {
    let old = undated(103, until: "2026-03-01")
    var scenario = scenario(
      [], until: "2026-03-01", started: "2025-06-01", at: "2026-02-20", listing: old)
    #expect(scenario.codes == [])
    #expect(scenario.outcome.counts[.beforeFirstEvent] == 1)
    scenario.entitlements?[0].startedAt = nil
    scenario.entitlements?[0].expiresAt = at("2025-11-01")
    scenario.entitlements?[0].transactions[0].expiresAt = at("2025-11-01")
    #expect(scenario.codes == [])
    #expect(scenario.outcome.counts[.beforeFirstEvent] == 1)
  }

  @Test("Of transactions without dates, the last paid one decides the entitlement")
  func newest() {
    var story = Story()
    story.report(.started, "2026-01-01", until: "2026-02-01", transaction: 9, price: 10)
    story.report(.renewed, "2026-02-01", until: "2026-03-01", transaction: 10, price: 10)
    story.report(.refunded, "2026-02-10", transaction: 9, price: 10)
    var older = undated(9, until: "2026-02-01")
    older.revokedAt = at("2026-02-10")
    let scenario = Scenario(
      story,
      shown: premium(
        until: "2026-03-01", .canceled, listing: [undated(10, until: "2026-03-01"), older]),
      at: "2026-02-20")
    #expect(scenario.codes == ["MISSED_CANCEL"])
  }
}
