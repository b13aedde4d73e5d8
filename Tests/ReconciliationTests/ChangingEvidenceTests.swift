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
        story, shown: premium(until: month(listed + 2), listing: list),
        at: month(listed + 1) + "T12:00:00", asOf: "2026-04-20"
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
      story, shown: premium(until: "2026-04-01"), at: "2026-03-18", asOf: "2026-03-25")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    #expect(scenario.breaks.map(\.expectedAt) == [at("2026-03-01")])
  }

  @Test("A period that begins after a refund and before the refunded end is a new start")
  func boughtAfterRefund() {
    var story = Story.monthly(renewals: 1)
    story.report(.refunded, "2026-02-05", transaction: 101, price: -10)
    let breaks = Scenario(story, shown: premium(until: "2026-03-20"), at: "2026-03-10").breaks
    #expect(breaks.map(\.code) == [.missedStart])
    #expect(breaks.map(\.expectedAt) == [at("2026-02-20")])
  }

  @Test("A loss that a young snapshot shows opens once events prove it and the window has passed")
  func confirmed() {
    func statuses(_ story: Story) -> [BreakStatus] {
      Scenario(story, shown: premium(until: "2026-03-01"), at: "2026-02-02", asOf: "2026-03-10")
        .breaks.filter { $0.code == .missedRenewal }.map(\.status)
    }
    #expect(statuses(.monthly(renewals: 0)) == [.pending])
    #expect(statuses(.monthly(renewals: 2, without: [1])) == [.open])
    #expect(statuses(.monthly(renewals: 2, without: [1], counted: false)) == [.open])
  }

  @Test("A start after a lapsed trial that a snapshot shows is one loss, also once it was renewed")
  func lapsedTrial() {
    var story = Story.trial
    story.report(.trialCanceled, "2026-01-03", until: "2026-01-08")
    story.report(.trialExpired, "2026-01-08", until: "2026-01-08")
    func codes() -> [String] {
      Scenario(story, shown: premium(until: "2026-03-01"), at: "2026-02-20", asOf: "2026-03-20")
        .codes
    }
    #expect(codes() == ["MISSED_START"])
    story.report(.renewed, "2026-03-01", until: "2026-04-01", transaction: 102, price: 10, count: 1)
    #expect(codes() == ["MISSED_START"])
  }

  @Test("A listed renewal keeps its id when the missing start before it arrives")
  func startArrives() {
    var story = Story()
    story.report(.canceled, "2026-02-10", until: "2026-03-01", transaction: 101)
    func renewal(_ story: Story) -> Break? {
      Scenario(
        story,
        shown: premium(until: "2026-03-01", .canceled, listing: monthlyTransactions(renewals: 1)),
        at: "2026-02-20"
      ).breaks.first { $0.transaction == "101" }
    }
    let before = renewal(story)
    story.report(.started, "2026-01-01", until: "2026-02-01", price: 10)
    #expect(before?.code == .missedRenewal)
    #expect(before?.id == renewal(story)?.id)
  }

  @Test("A start after an expiry, and a renewal after a change, keep their ids when the next comes")
  func nextRenewal() {
    var expired = Story.monthly(renewals: 1)
    expired.reportEnd(canceled: "2026-02-10", until: "2026-03-01", transaction: 101)
    var changed = Story.monthly(renewals: 1)
    changed.report(
      .upgraded, "2026-02-05", until: "2026-03-21", transaction: 102, price: 20, count: nil)
    for (story, code) in [(expired, BreakCode.missedStart), (changed, .missedRenewal)] {
      func missing(_ story: Story, renewals: Int, at captured: String) -> Break? {
        let later = (0...renewals).map {
          bought(103 + $0, .renewed, "2026-0\(3 + $0)-21", until: "2026-0\(4 + $0)-21")
        }
        return Scenario(
          story,
          shown: premium(
            until: "2026-0\(4 + renewals)-21", listing: monthlyTransactions(renewals: 1) + later),
          at: captured
        ).breaks.first { $0.transaction == "103" }
      }
      let before = missing(story, renewals: 0, at: "2026-03-25")
      var later = story
      later.report(
        .renewed, "2026-04-21", until: "2026-05-21", transaction: 104, price: 10,
        count: code == .missedStart ? 1 : 3)
      let after = missing(later, renewals: 1, at: "2026-04-25")
      #expect(before != nil && before?.id == after?.id, "\(code): \(before?.id ?? "none")")
    }
  }

  @Test("A start under a new order keeps its id when the order's first event arrives")
  func newOrder() throws {
    var first = Story.monthly(renewals: 1)
    first.reportEnd(canceled: "2026-02-20", until: "2026-03-01", transaction: 101)
    var second = Story(original: "300")
    second.report(
      .renewed, "2026-05-10", until: "2026-06-10", transaction: 301, price: 10, count: 1)
    for index in first.events.indices { first.events[index].store = .playStore }
    for index in second.events.indices { second.events[index].store = .playStore }
    let start = bought(300, .started, "2026-04-10", until: "2026-05-10") { $0.originalID = "300" }
    let renewal = bought(301, .renewed, "2026-05-10", until: "2026-06-10") {
      $0.originalID = "300"
    }
    func breaks(captured: String, asOf: String) -> [Break] {
      let listed = captured < "2026-05-10" ? [start] : [start, renewal]
      var shown = premium(
        until: captured < "2026-05-10" ? "2026-05-10" : "2026-06-10",
        listing: monthlyTransactions(renewals: 1) + listed)
      shown.store = .playStore
      return Scenario(
        stories: [first, second], entitlements: [shown], capturedAt: captured, asOf: asOf
      ).breaks
    }
    let id = try #require(breaks(captured: "2026-04-20", asOf: "2026-04-20").first?.id)
    for (captured, asOf) in [
      ("2026-04-20", "2026-04-20"), ("2026-04-20", "2026-05-20"), ("2026-05-20", "2026-05-20"),
    ] {
      let found = breaks(captured: captured, asOf: asOf)
      #expect(found.map(\.code) == [.missedStart])
      #expect(found.map(\.id) == [id])
    }
  }

  @Test("A missing product change has the id of its charge, which later evidence names")
  func productChange() {
    let story = Story.monthly(renewals: 2)
    let charge = bought(103, .renewed, "2026-03-20", until: "2027-03-20")
    let scenarios = [[], monthlyTransactions(renewals: 2) + [charge]].map { listed in
      Scenario(
        story, shown: premium(until: "2027-03-20", product: "yearly", listing: listed),
        at: "2026-04-10", change: allMapped)
    }
    #expect(scenarios.map(\.codes) == [["MISSED_PRODUCT_CHANGE"], ["MISSED_RENEWAL"]])
    #expect(Set(scenarios.flatMap(\.breaks).map(\.id)).count == 1)
  }

  @Test("A missing refund is worth its charge, which is missing too; an offer's price is unknown")
  func refundOfMissingCharge() {
    func worths(_ kind: SnapshotTransactionKind) -> [Amount?] {
      let listed = bought(100, kind, "2026-01-01", until: "2026-02-01", revoked: "2026-01-05")
      var scenario = Scenario(
        entitlements: [premium(active: false, until: "2026-01-05", listing: [listed])],
        capturedAt: "2026-02-20")
      scenario.change = { $0.listAtSeven("com.example.monthly") }
      let breaks = scenario.breaks.sorted { $0.code.rawValue < $1.code.rawValue }
      #expect(breaks.map(\.code) == [.missedRefund, .missedStart])
      return breaks.map(\.estimatedUSD)
    }
    #expect(worths(.started) == [Amount(micros: -7_000_000), Amount(micros: 7_000_000)])
    #expect(worths(.introStarted) == [nil, nil])
  }

  @Test("A missing charge ends the access that a failed payment is assumed to continue")
  func failedAfterLoss() {
    var story = Story.monthly(renewals: 0, counted: false)
    story.report(.graceEntered, "2026-03-01", transaction: 101)
    let list = monthlyTransactions(renewals: 1)
    let scenario = Scenario(
      story, shown: premium(active: false, until: "2026-03-01", .billingIssue, listing: list),
      at: "2026-03-10", provider: .purple)
    #expect(scenario.codes == ["MISSED_RENEWAL"])
  }
}
