import Domain
import Reconciliation
import Testing

@Suite("One loss while its evidence changes")
struct ChangingEvidenceTests {
  @Test("An event that proves several charges counts only those that no list showed")
  func listedBefore() {
    var story = Story.monthly(renewals: 0, counted: false)
    story.report(.canceled, "2026-04-15", until: "2026-05-01", transaction: 103) {
      $0.periodStart = at("2026-04-01")
    }
    func losses(listed: Int) -> [String] {
      let list = monthlyTransactions(renewals: listed)
      return Scenario(
        stories: [story], entitlements: [premium(until: month(listed + 2), listing: list)],
        capturedAt: month(listed + 1) + "T12:00:00", asOf: "2026-04-20"
      ).breaks.map { "\($0.expectedAt?.text ?? "") \($0.missingEvents)" }.sorted()
    }
    #expect(losses(listed: 0) == ["2026-02-01T00:00:00Z 3"])
    #expect(losses(listed: 1) == ["2026-02-01T00:00:00Z 1", "2026-03-01T00:00:00Z 2"])
    #expect(
      losses(listed: 2) == [1, 1, 1].enumerated().map { "2026-0\($0 + 2)-01T00:00:00Z \($1)" })
  }

  @Test("An end from before a product change that followed a missing charge proves no other one")
  func endBeforeChange() {
    var story = Story.monthly(renewals: 1, counted: false)
    story.report(
      .upgraded, "2026-03-20", until: "2027-03-20", transaction: 103, price: 90,
      product: Story.yearly)
    let scenario = Scenario(
      stories: [story], entitlements: [premium(until: "2026-04-01")], capturedAt: "2026-03-18",
      asOf: "2026-03-25")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    #expect(scenario.breaks.map(\.expectedAt) == [at("2026-03-01")])
  }

  @Test("A period that begins after a refund and before the refunded end is a new start")
  func boughtAfterRefund() {
    var story = Story.monthly(renewals: 1)
    story.report(.refunded, "2026-02-05", transaction: 101, price: -10)
    let breaks = Scenario(
      stories: [story], entitlements: [premium(until: "2026-03-20")], capturedAt: "2026-03-10"
    ).breaks
    #expect(breaks.map(\.code) == [.missedStart])
    #expect(breaks.map(\.expectedAt) == [at("2026-02-20")])
  }
}
