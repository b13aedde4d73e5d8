import Reconciliation
import Testing
import Subscriptions
import Domain

@Suite("Breaks found in events alone")
struct FindingBreaksTests {
  private let rules = ReconciliationSettings(fold: FoldSettings(asOf: at("2026-06-01")))

  private func found(_ story: Story) throws -> [Break] {
    let history = try SubscriptionHistory(events: story.events, rules: rules.fold)
    let lineage = try #require(story.lineage(until: at("2026-06-01")))
    return breaks(from: history.findings, lineage: lineage, rules: rules)
  }

  @Test("Revenue on a cancel is a break with its amount and subscription")
  func unexpectedRevenue() throws {
    var story = Story.monthly(renewals: 1)
    #expect(try found(story).isEmpty)
    story.report(.canceled, "2026-02-05", until: "2026-03-01", transaction: 101, price: 3)
    let raised = try found(story)
    #expect(raised.map(\.code) == [.unexpectedRevenue])
    #expect(raised[0].estimatedUSD == Amount(micros: 3_000_000))
    #expect(raised[0].subscription == "100")
    #expect(raised[0].transaction == "101")
    #expect(raised[0].status == .open)
    #expect(raised[0].settlesAt == nil)
  }

  @Test("The same anomaly in two events is two breaks")
  func twice() throws {
    var story = Story.monthly(renewals: 1)
    story.report(.canceled, "2026-02-05", until: "2026-03-01", transaction: 101, price: 3)
    story.report(.billingRetry, "2026-02-06", until: "2026-03-01", transaction: 101, price: 3)
    let raised = try found(story)
    #expect(raised.count == 2)
    #expect(raised.map(\.id) == raised.map(\.id).sorted())
  }

  @Test("In the sandbox, an anomaly is only information, without money")
  func sandbox() throws {
    var story = Story(environment: .sandbox)
    story.report(.started, "2026-01-01", until: "2026-02-01", price: 10)
    story.report(.canceled, "2026-01-05", until: "2026-02-01", price: 3)
    let raised = try found(story)
    #expect(raised.map(\.severity) == [.info])
    #expect(raised.map(\.estimatedUSD) == [nil])
  }

  @Test("A delivery after a later event is out of order, and resolved because it arrived")
  func outOfOrder() throws {
    var story = Story.monthly(renewals: 2)
    for (index, received) in [(0, "2026-01-01"), (1, "2026-03-02"), (2, "2026-03-01")] {
      story.events[index].received = at(received)
      story.events[index].created = story.events[index].received
    }
    let raised = try found(story)
    #expect(raised.map(\.code) == [.outOfOrder])
    #expect(raised[0].transaction == "101")
    #expect(raised[0].status == .resolved)
    #expect(raised[0].severity == .info)
    #expect(
      raised[0].evidence == """
        renewed of 2026-02-01T00:00:00Z was received 2026-03-02T00:00:00Z, after renewed of \
        2026-03-01T00:00:00Z, which was received 2026-03-01T00:00:00Z
        """)
    story.events[1].received = at("2026-03-01")
    story.events[1].created = at("2026-03-01")
    #expect(try found(story).isEmpty)
  }

  @Test("The position in archives is no evidence: the same lines in other files give no break")
  func places() throws {
    var story = Story.monthly(renewals: 2)
    for index in story.events.indices {
      story.events[index].place = Provenance(line: Int64(9 - index))
    }
    #expect(try found(story).isEmpty)
  }

  @Test("An event received after the delivery window is late; one at its end is not")
  func late() throws {
    var story = Story.monthly(renewals: 0)
    story.events[0].received = at("2026-01-02T03:00:01")
    let raised = try found(story)
    #expect(raised.map(\.code) == [.late])
    #expect(raised[0].status == .resolved)
    #expect(raised[0].evidence.contains("1620 minutes"))
    story.events[0].received = at("2026-01-02T03:00:00")
    #expect(try found(story).isEmpty)
    story.events[0].received = at("2026-01-03")
    story.events[0].created = at("2026-01-02T12:00:00")
    #expect(try found(story).isEmpty)
    story.report(.observed, "2026-01-02") {
      $0.received = at("2026-01-20")
      $0.provider = .iaptic
    }
    #expect(try found(story).isEmpty)
  }

  @Test("A refund in another currency than its charge is a break that names both")
  func currency() throws {
    var story = Story.monthly(renewals: 1)
    story.report(.refunded, "2026-02-10", transaction: 101, price: 10) { $0.revenue?.currency = 8 }
    story.report(.refunded, "2026-02-11", transaction: 100, price: 3) { $0.revenue?.currency = 8 }
    let raised = try found(story)
    #expect(raised.map(\.code) == [.currencyMismatch, .currencyMismatch])
    #expect(raised.contains { $0.evidence.contains("10.00 local, 10.00 USD") })
    story.events[2].revenue?.currency = 9
    story.events[3].revenue?.currency = 0
    #expect(try found(story).isEmpty)
  }

  @Test("Proceeds off the price by more than half a percent and a cent are a mismatch")
  func rate() throws {
    var story = Story.monthly(renewals: 0)
    story.events[0].revenue?.isProceed = true
    story.events[0].price = Price(usd: Amount(micros: 14_360_000), currency: 9)
    let raised = try found(story)
    #expect(raised.map(\.code) == [.rateMismatch])
    #expect(raised[0].evidence.contains("the price is 14.36 USD, the proceeds are 10.00 local"))
    story.events[0].price = Price(usd: Amount(micros: 14_350_000), currency: 9)
    #expect(try found(story).isEmpty)
  }

  @Test(
    "An event in an impossible order is a break", arguments: [EventKind.refunded, .revoked])
  func sequence(taking kind: EventKind) throws {
    var story = Story.monthly(renewals: 1)
    story.report(kind, "2026-01-20", transaction: 101)
    let raised = try found(story)
    #expect(raised.map(\.code) == [.impossibleSequence])
    #expect(raised[0].transaction == "101")
    #expect(raised[0].evidence.contains("follows \(kind.name) of 2026-01-20T00:00:00Z"))
    // Stripe keeps one id for all charges.
    for index in story.events.indices { story.events[index].store = .stripe }
    #expect(try found(story).isEmpty)
    for index in story.events.indices { story.events[index].store = .appStore }
    story.events[2].time = at("2026-02-10")
    #expect(try found(story).isEmpty)
  }

  @Test("An end before its start is impossible; an end at its start is an empty period")
  func ends() throws {
    var story = Story.monthly(renewals: 0)
    story.events[0].periodEnd = at("2025-12-31")
    #expect(try found(story).map(\.code) == [.impossibleSequence])
    story.events[0].periodEnd = at("2026-01-01")
    #expect(try found(story).isEmpty)
  }

  @Test("Versions that differ are a conflict, described by fields and never by contents")
  func conflict() throws {
    let lineage = try #require(Story.monthly(renewals: 1).lineage(until: at("2026-06-01")))
    var event = Event(
      environment: .production, store: .appStore, kind: .renewed, time: at("2026-02-01"))
    (event.identity, event.transaction, event.product) = (42, 101, Story.monthly)
    func raised(_ event: Event) throws -> Break {
      let conflict = FoldFinding.conflict(of: event, versions: 2, fields: ["revenue", "expires"])
      return try #require(breaks(from: [conflict], lineage: lineage, rules: rules).first)
    }
    let found = try raised(event)
    #expect(found.code == .conflict)
    #expect(found.severity == .medium)
    #expect(found.evidence.hasPrefix("2 versions of one event"))
    #expect(found.evidence.hasSuffix("differ in expires, revenue"))
    event.identity = 43
    #expect(try raised(event).id != found.id)
  }
}
