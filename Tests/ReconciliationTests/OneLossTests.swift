import Reconciliation
import Testing
import Domain

@Suite("One loss is one break")
struct OneLossTests {
  private let week = Story.endedWeek(
    from: "2026-04-14", canceled: "2026-04-16", until: "2026-04-21")

  /// A month from 11 May whose start is missing, and the events after the snapshot.
  private func month(_ kind: EventKind) -> Story {
    var story = Story(original: "300")
    let price: Int64? = kind == .refunded ? -10 : nil
    story.report(kind, "2026-06-09", until: "2026-06-11", transaction: 300, price: price) {
      if kind == .refunded { $0.periodStart = at("2026-05-11") }
    }
    return story
  }

  private func entitlement(listed: Bool) -> Entitlement {
    let transactions = [
      bought(200, .started, "2026-04-14", until: "2026-04-21") { $0.originalID = "200" },
      bought(300, .started, "2026-05-11", until: "2026-06-11") { $0.originalID = "300" },
    ]
    return premium(
      until: "2026-06-11", started: "2026-05-11", listing: listed ? transactions : [])
  }

  @Test("A missing restart accounts for the count of the next renewal")
  func restart() {
    var story = Story.monthly(renewals: 1)
    story.reportEnd(canceled: "2026-02-20", until: "2026-03-01", transaction: 101)
    story.report(.renewed, "2026-06-10", until: "2026-07-10", transaction: 104, price: 10, count: 3)
    var scenario = Scenario(
      story,
      shown: premium(
        until: "2026-07-10",
        listing: monthlyTransactions(renewals: 1) + [
          bought(103, .started, "2026-05-10", until: "2026-06-10"),
          bought(104, .renewed, "2026-06-10", until: "2026-07-10"),
        ]), at: "2026-06-14")
    #expect(scenario.codes == ["MISSED_START"])
    // A further counted renewal that the list lacks is a separate loss.
    scenario.stories[0].events[4].renewalCount = 4
    #expect(scenario.codes == ["MISSED_RENEWAL", "MISSED_START"])
    #expect(scenario.breaks.map(\.missingEvents) == [1, 1])
  }

  @Test("A missing renewal has one id, whatever proves it and whether its transaction is named")
  func oneID() throws {
    let paid = Story.monthly(renewals: 1)
    let silent = Scenario(paid, shown: nil, at: "2026-03-20")
    let id = try #require(silent.breaks.first?.id)
    func expect(
      _ story: Story, _ shown: Entitlement? = nil, on day: String = "2026-03-20",
      is ids: [String], _ line: SourceLocation = #_sourceLocation
    ) {
      let breaks = Scenario(story, shown: shown, at: day).breaks.sorted {
        ($0.expectedAt?.milliseconds ?? 0) < ($1.expectedAt?.milliseconds ?? 0)
      }
      #expect(breaks.map(\.id) == ids, "\(breaks)", sourceLocation: line)
    }
    expect(paid, premium(until: "2026-04-01"), is: [id])
    // Apple charges up to a day early.
    for moment in ["2026-02-28T06:00:00", "2026-03-01", "2026-03-02"] {
      let charge = bought(102, .renewed, moment, until: "2026-04-01")
      let listed = monthlyTransactions(renewals: 1) + [charge]
      expect(paid, premium(until: "2026-04-01", listing: listed), is: [id])
      expect(paid, premium(until: "2026-04-01", listing: [charge]), is: [id])
    }
    for counted in [true, false] {
      expect(.monthly(renewals: 3, without: [2], counted: counted), on: "2026-04-20", is: [id])
    }
    var named = paid
    named.report(.canceled, "2026-03-10", until: "2026-04-01", transaction: 102)
    expect(named, is: [id])
    var refunded = paid
    refunded.report(.refunded, "2026-03-10", transaction: 102, price: -10) {
      $0.periodStart = at("2026-03-01")
    }
    expect(refunded, is: [id])
    // The next loss is separate, and stays so when the first arrives late.
    let both = premium(until: "2026-06-01", listing: monthlyTransactions(renewals: 4))
    let lost = Story.monthly(renewals: 4, without: [2, 3])
    let second = Scenario(.monthly(renewals: 4, without: [3]), shown: nil, at: "2026-05-20")
    let next = try #require(second.breaks.first?.id)
    #expect(next != id)
    expect(lost, both, on: "2026-05-20", is: [id, next])
    // Without a list both are one break, with the id of the remaining loss.
    let one = Scenario(lost, shown: nil, at: "2026-05-20").breaks
    #expect(one.map(\.id) == [id] && one.map(\.missingEvents) == [2])
    #expect(one.first?.idsOfLaterCharges == [next])
    #expect(second.breaks.first?.idsOfLaterCharges == [])
  }

  @Test("Charges lost after a trial keep their ids when the next one arrives")
  func afterTrial() {
    var story = Story(original: "100")
    story.report(.trialStarted, "2026-01-01", until: "2026-01-08", transaction: 100)
    let listed = [
      bought(100, .trialStarted, "2026-01-01", until: "2026-01-08"),
      bought(101, .renewed, "2026-01-08", until: "2026-02-08"),
      bought(102, .renewed, "2026-02-08", until: "2026-03-08"),
    ]
    func ids() -> [String: String] {
      let scenario = Scenario(
        story, shown: premium(until: "2026-03-08", listing: listed), at: "2026-03-20")
      return Dictionary(scenario.breaks.map { ($0.transaction, $0.id) }) { first, _ in first }
    }
    let before = ids()
    story.report(.renewed, "2026-03-08", until: "2026-04-08", transaction: 103, price: 10)
    #expect(before["101"] != nil && before["102"] != nil, "\(before)")
    #expect(ids().filter { before[$0.key] != nil } == before)
  }

  @Test("A start is one break if all events of its subscription follow the snapshot")
  func reportedLater() {
    for kind in [EventKind.canceled, .refunded] {
      let scenario = Scenario(
        stories: [week, month(kind)], entitlements: [entitlement(listed: true)],
        capturedAt: "2026-06-05", asOf: "2026-06-15", change: allMapped)
      #expect(scenario.codes == ["MISSED_START"])
      #expect(scenario.breaks.map(\.transaction) == ["300"])
    }
  }

  @Test("A start proven by its refund is the one that an entitlement without a list shows")
  func provenByRefund() {
    var scenario = Scenario(
      stories: [week, month(.refunded)], entitlements: [entitlement(listed: false)],
      capturedAt: "2026-06-05", asOf: "2026-06-15", change: allMapped)
    #expect(scenario.breaks.map(\.transaction) == ["300"])
    // Next to the week's entitlement, it fits no reported subscription.
    scenario.entitlements?.append(
      premium(
        active: false, until: "2026-04-21", .canceled, product: "weekly", started: "2026-04-14"))
    #expect(scenario.breaks.map(\.transaction) == ["300"])
    // A start at another time is a different one.
    scenario.entitlements?[0].startedAt = at("2026-05-20")
    #expect(scenario.codes == ["MISSED_START", "MISSED_START"])
  }

  @Test("A refund alone does not take an entitlement from the purchase that gave it")
  func refundsAlone() {
    var given = Story(original: "300")
    given.report(
      .started, "2026-05-11", until: "2026-06-11", transaction: 300, price: 10, count: 0)
    var back = Story(original: "900")
    back.report(.refunded, "2026-03-21", transaction: 900, price: -10) {
      $0.periodStart = at("2026-01-22")
    }
    let scenario = Scenario(
      stories: [given, back], entitlements: [entitlement(listed: false)],
      capturedAt: "2026-06-05", change: allMapped)
    #expect(scenario.breaks.map(\.transaction) == ["900"])
  }

  @Test("A trial whose payment fails has no expiry, even if it was canceled once")
  func failingTrial() {
    var story = Story.trial
    story.report(.trialCanceled, "2026-01-05", until: "2026-01-08")
    var scenario = Scenario(
      story, shown: premium(active: false, until: "2026-01-08", .billingIssue), at: "2026-01-20")
    #expect(scenario.codes == ["MISSED_BILLING_ISSUE"])
    scenario.stories[0].report(.trialBillingRetry, "2026-01-08", until: "2026-01-08")
    #expect(scenario.codes == [])
    // Once the store stops collecting, its end had to be reported.
    scenario.entitlements = [premium(active: false, until: "2026-01-08", .canceled)]
    #expect(scenario.codes == ["MISSED_EXPIRATION"])
  }

  @Test("If the store gave up a trial, its cancel is missing when the snapshot dates it")
  func trialGivenUp() {
    var story = Story.trial
    story.report(.trialBillingRetry, "2026-01-08", until: "2026-01-08")
    var shown = premium(active: false, until: "2026-01-08", .canceled)
    shown.autoRenewOffAt = at("2026-02-08")
    var scenario = Scenario(story, shown: shown, at: "2026-03-20")
    #expect(scenario.codes == ["MISSED_CANCEL"])
    #expect(scenario.breaks.map(\.expectedAt) == [at("2026-02-08")])
    scenario.stories[0].report(.trialCanceled, "2026-02-08", until: "2026-01-08")
    #expect(scenario.codes == [])
  }

  @Test("A start shown by a snapshot is one break if all its other events are newer")
  func startOfNewerEvents() {
    for kind in [EventKind.renewed, .trialConverted] {
      var story = Story(original: "300")
      story.report(
        kind, "2026-06-11", until: "2026-07-11", transaction: 301, price: 10,
        count: kind == .renewed ? 1 : nil)
      var shown = entitlement(listed: false)
      shown.isTrial = kind == .trialConverted
      let other = premium(
        active: false, until: "2026-04-21", .canceled, product: "weekly", started: "2026-04-14")
      let scenario = Scenario(
        stories: [week, story], entitlements: [shown, other], capturedAt: "2026-06-05",
        asOf: "2026-06-20", change: allMapped)
      #expect(scenario.codes == ["MISSED_START"])
      #expect(scenario.breaks.map(\.subscription) == ["300"])
      #expect(scenario.breaks.map(\.expectedAt) == [at("2026-05-11")])
    }
  }

  @Test("An order that a snapshot lists, and the renewal after it, is one loss")
  func listedOrder() {
    var story = Story.monthly(renewals: 0, counted: false)
    story.report(.expired, "2026-01-20", until: "2026-02-01") {
      $0.observation = Observation()
      $0.observation?.isReplaced = true
    }
    story.report(.renewed, "2026-02-20", until: "2026-03-20", transaction: 301, product: 2)
    let order = bought(300, .started, "2026-01-20", until: "2026-02-20") { $0.originalID = "300" }
    func codes(_ listed: [SnapshotTransaction]) -> [String] {
      var shown = premium(until: "2026-02-20", product: "yearly", listing: listed)
      if listed.isEmpty { shown.expiresAt = at("2026-03-20") }
      return Scenario(
        stories: [story], entitlements: listed.isEmpty ? nil : [shown],
        capturedAt: listed.isEmpty ? "2026-03-10" : "2026-02-10", asOf: "2026-03-10",
        provider: .iaptic, change: allMapped
      ).codes
    }
    #expect(codes([]) == ["MISSED_RENEWAL"])
    #expect(codes([order]).count == 1)
  }

  @Test("A missing trial start does not hide the first renewal after the conversion")
  func renewalAfterMissingTrial() {
    var story = Story()
    story.report(.trialConverted, "2026-01-08", until: "2026-02-08", transaction: 101, price: 10)
    story.report(.renewed, "2026-03-08", until: "2026-04-08", transaction: 103, price: 10, count: 2)
    let breaks = Scenario(story, shown: nil, at: "2026-03-20").breaks
    #expect(Set(breaks.map(\.code)) == [.missedRenewal, .missedStart])
    #expect(breaks.map(\.missingEvents) == [1, 1])
    let renewal = breaks.first { $0.code == .missedRenewal }
    #expect(renewal?.expectedAt == at("2026-02-08"))
    #expect(renewal?.estimatedUSD == Amount(micros: 10_000_000))
  }

  @Test("A counter that only a later renewal reaches does not hide what a snapshot shows")
  func laterCounter() {
    for counted in [true, false] {
      let scenario = Scenario(
        .monthly(renewals: 2, without: [1], counted: counted),
        shown: premium(until: "2026-03-01", count: 1), at: "2026-02-20", asOf: "2026-03-10")
      #expect(scenario.codes == ["MISSED_RENEWAL"])
      #expect(scenario.breaks.map(\.expectedAt) == [at("2026-02-01")])
    }
  }

  @Test("A listed charge until the next renewal accounts for the time before it")
  func listedUntilRenewal() {
    var story = Story.monthly(renewals: 0, counted: false)
    story.report(.renewed, "2026-03-14", until: "2026-04-14", transaction: 103, price: 10)
    let shown = premium(
      until: "2026-03-14",
      listing: [
        bought(100, .started, "2026-01-01", until: "2026-02-01"),
        bought(102, .renewed, "2026-02-12", until: "2026-03-14"),
      ])
    let scenario = Scenario(story, shown: shown, at: "2026-02-20", asOf: "2026-03-20")
    #expect(scenario.breaks.map(\.transaction) == ["102"])
  }

  @Test("A snapshot just before the next renewal, or without the lost conversion, is one loss, too")
  func beforeNextRenewal() {
    let late = Scenario(
      .monthly(renewals: 2, without: [1]), shown: premium(until: "2026-03-01", count: 1),
      at: "2026-02-28T18:00:00", asOf: "2026-03-10")
    #expect(late.codes == ["MISSED_RENEWAL"])
    var story = Story.trial
    story.report(.trialBillingRetry, "2026-01-08", until: "2026-01-08")
    story.report(.renewed, "2026-02-10", until: "2026-03-10", transaction: 102, price: 10, count: 1)
    let converted = Scenario(
      story, shown: premium(until: "2026-02-10", count: 0), at: "2026-02-01", asOf: "2026-03-01")
    #expect(converted.codes == ["MISSED_CONVERSION"])
  }

  @Test("A lost renewal of another product is one loss")
  func changedProduct() {
    let story = Story.monthly(renewals: 2, without: [1])
    let scenario = Scenario(
      story, shown: premium(until: "2026-03-01", product: "yearly", count: 1), at: "2026-02-20",
      asOf: "2026-03-10", change: allMapped)
    #expect(scenario.codes.count == 1)
  }

  @Test("The grace of a lost conversion's failed renewal is no other one")
  func graceOfUnseen() {
    var story = Story.trial
    story.report(.billingRetry, "2026-02-08", until: "2026-02-08", transaction: 101)
    var scenario = Scenario(
      story, shown: premium(until: "2026-02-24", .billingIssue), at: "2026-02-11")
    #expect(scenario.codes == ["MISSED_CONVERSION"])
    scenario.stories[0].report(.canceled, "2026-03-20", until: "2026-02-08", transaction: 101)
    scenario.entitlements = [premium(active: false, until: "2026-02-24", .canceled)]
    scenario.capturedAt = "2026-03-25"
    #expect(scenario.codes == ["MISSED_CONVERSION"])
  }
}
