import Domain
import Testing

@testable import Subscriptions

@Suite("A store transaction is charged once and refunded once")
struct DoubleChargeTests {
  private func history(
    _ story: Story, _ change: (inout FoldSettings) -> Void = { _ in }
  ) throws -> SubscriptionHistory {
    try story.history(asOf: "2026-06-01", change)
  }

  private func excluded(_ facts: BookedHistories) -> [String] {
    facts.excluded.map { "\($0.key.reason.name) \($0.value.events) \($0.value.charges)" }.sorted()
  }

  /// A two-month subscription.
  private func twoMonths() -> Story {
    var story = Story.paid("2026-01-10", until: "2026-02-10")
    story.report(.renewed, "2026-02-10", until: "2026-03-10", price: "10") {
      $0.created = at("2026-02-11")
    }
    return story
  }

  /// The same with another charge under the id of the second.
  private func chargedAgain(
    _ kind: EventKind = .renewed, _ price: String = "10", created: String? = nil
  ) -> Story {
    var story = twoMonths()
    story.report(kind, "2026-02-10T03:00:00", until: "2026-03-10", price: price) {
      $0.transaction = 102
      $0.created = created.map { at($0) }
    }
    return story
  }

  @Test("The charge created first is booked; the other only counts, with its money in the break")
  func twice() throws {
    for kind in [EventKind.renewed, .started] {
      let story = chargedAgain(kind, "12", created: "2026-02-12")
      let once = try twoMonths().facts(asOf: "2026-06-01")
      var facts = try story.facts(asOf: "2026-06-01")
      #expect(excluded(facts) == ["double_charge 1 1"])
      facts.facts.excluded = [:]
      facts.facts.gaps = once.facts.gaps
      #expect(facts == once, "apart from what arrived")
      let (reported, single) = (try history(story), try history(twoMonths()))
      #expect(reported.findings.map(\.code) == [.doubleCharge])
      #expect(reported.findings.map(\.difference) == [usd("12")])
      #expect(reported.state?.charges == single.state?.charges)
      let late = Instant(milliseconds: .max)
      #expect(reported.provesMissingEvent(since: late) == single.provesMissingEvent(since: late))
      let booked = try story.facts(asOf: "2026-06-01") { $0.doubleCharges = .book }
      #expect(excluded(booked).isEmpty && booked.total(\.grossUSD) == "32.00")
      #expect(
        try history(story) { $0.doubleCharges = .book }.findings.map(\.code) == [.doubleCharge])
    }
  }

  @Test("A held charge after its refund is also an impossible sequence")
  func afterRefund() throws {
    var story = twoMonths()
    story.report(.refunded, "2026-02-12", price: "-10") { $0.transaction = 102 }
    story.report(.renewed, "2026-02-14", until: "2026-03-14", price: "10") {
      $0.transaction = 102
      $0.created = at("2026-02-15")
    }
    for policy in ExcessMoneyPolicy.allCases {
      let found = try history(story) { $0.doubleCharges = policy }.findings.map(\.code)
      #expect(Set(found) == [.doubleCharge, .impossibleSequence], "\(policy)")
    }
  }

  @Test("The creation time decides which charge is booked, not arrival or event time")
  func order() throws {
    let story = chargedAgain(.renewed, "12", created: "2026-02-10")
    let histories = try [story.events, story.events.reversed()].map { events in
      var story = story
      story.events = events
      return try history(story)
    }
    #expect(histories[0].findings == histories[1].findings)
    #expect(histories[0].findings.map(\.difference) == [usd("10")])
    #expect(try story.facts(asOf: "2026-06-01").total(\.grossUSD) == "22.00")
  }

  @Test("A held charge is explained by itself and by the booked charge")
  func explained() throws {
    let history = try history(chargedAgain(created: "2026-02-12"))
    let times = try history.shares().compactMap { share -> [String]? in
      guard case .excluded = share.cell else { return nil }
      return history.evidence(of: share).map { text($0.event.time) }
    }
    #expect(times == [["2026-02-10T03:00:00", "2026-02-10"]])
  }

  @Test(
    "In stores whose ids can repeat, each charge counts",
    arguments: [Store.stripe, .amazon, .windows, .paypal, .unknown])
  func otherStores(_ store: Store) throws {
    var story = chargedAgain()
    for index in story.events.indices { story.events[index].store = store }
    #expect(try story.facts(asOf: "2026-06-01").total(\.grossUSD) == "30.00")
    #expect(try history(story).findings.isEmpty)
  }

  @Test("A trial and its conversion, or a product change and its credit, share an id")
  func sharedIDs() throws {
    var story = Story()
    story.report(.trialStarted, "2026-01-10", until: "2026-01-17")
    story.report(.trialConverted, "2026-01-17", until: "2026-02-17", price: "10") {
      $0.transaction = 101
    }
    func change(_ value: Int64) -> Revenue {
      Revenue(
        local: Amount(micros: value), usd: Amount(micros: value), currency: 9, isProceed: false,
        rate: usd("70"))
    }
    story.report(.upgraded, "2026-01-20", until: "2026-01-20") {
      toYearly(&$0)
      $0.transaction = 101
      $0.revenue = change(-6_000_000)
    }
    story.report(.productChanged, "2026-01-20", until: "2026-01-20") {
      $0.product = Story.yearly
      $0.transaction = 101
      $0.revenue = change(0)
    }
    for index in story.events.indices { story.events[index].store = .playStore }
    let history = try history(story)
    #expect(history.held.isEmpty)
    #expect(!history.findings.contains { [.doubleCharge, .overRefund].contains($0.code) })
  }

  @Test(
    "Charges repeated by other providers count once, but each renewal under one id counts",
    arguments: [Provider.iaptic, .purple])
  func otherProviders(_ provider: Provider) throws {
    var feed = StateFeed(provider)
    for day in ["2026-01-10", "2026-01-11", "2026-02-10"] {
      feed.report(.renewed, day) { $0.periodEnd = $0.time + .days(31) }
    }
    for (day, product) in [("2026-01-10", 3), ("2026-03-10", 3), ("2026-03-10", 4)]
      as [(String, StringID)]
    {
      feed.report(.purchased, day, of: 20) { $0.product = product }
    }
    let facts = try feed.facts(asOf: "2026-06-01")
    #expect(facts.charges(.renewal) == 2, "of a month each")
    #expect(facts.charges(.oneTime) == 2, "of a product each")
    #expect(excluded(facts) == ["double_charge 1 1", "double_charge 1 1"])
    let booked = try feed.facts(asOf: "2026-06-01") { $0.doubleCharges = .book }
    #expect(booked.charges(.renewal) == 3 && booked.charges(.oneTime) == 3)
  }

  @Test("A renewal created after the next one, under the same id, is a separate charge")
  func madeLater() throws {
    var feed = StateFeed(.purple)
    for (day, made) in [("2026-01-10", "2026-03-01"), ("2026-02-10", "2026-02-10")] {
      feed.report(.renewed, day) {
        $0.periodEnd = $0.time + .days(31)
        $0.created = at(made)
      }
    }
    #expect(try feed.facts(asOf: "2026-06-01").charges(.renewal) == 2)
  }

  @Test("Sandbox charges and charges without an id are not compared")
  func sandbox() throws {
    for change: (inout Event) -> Void in [{ $0.environment = .sandbox }, { $0.transaction = 0 }] {
      var story = chargedAgain()
      for index in story.events.indices { change(&story.events[index]) }
      #expect(try history(story).findings.isEmpty)
    }
  }
}

@Suite("Refunds do not exceed their charge")
struct OverRefundTests {
  /// A charge of 10 at 70 %, and refunds of these amounts, one per day.
  private func story(_ refunds: [String], isProceed: Bool = false) -> Story {
    var story = Story()
    story.report(.started, "2026-01-10", until: "2026-02-10", price: isProceed ? "7" : "10") {
      $0.revenue?.isProceed = isProceed
      $0.price = Price(local: usd("9.99"), usd: usd("9.99"), currency: 9)
    }
    for (index, amount) in refunds.enumerated() {
      story.report(.refunded, "2026-01-1\(index + 1)", price: amount) {
        $0.revenue?.isProceed = isProceed
      }
    }
    return story
  }

  private func findings(_ story: Story, _ policy: ExcessMoneyPolicy = .hold) throws -> [String] {
    try story.history(asOf: "2026-06-01") { $0.doubleCharges = policy }.findings.map {
      "\($0.code.rawValue) \($0.difference?.text() ?? "?") \(text($0.time))"
    }
  }

  @Test(
    "The part of a refund that exceeds the charge is held",
    arguments: [
      (["12"], ["OVER_REFUND 2.00 2026-01-11"], 1),
      (["10", "10"], ["OVER_REFUND 10.00 2026-01-12"], 1),
      (["4", "10"], ["OVER_REFUND 4.00 2026-01-12"], 2),
      (["6", "6", "1"], ["OVER_REFUND 2.00 2026-01-12", "OVER_REFUND 1.00 2026-01-13"], 2),
    ])
  func excess(_ refunds: [String], _ found: [String], _ booked: Int) throws {
    let story = story(refunds)
    #expect(try findings(story) == found)
    let facts = try story.facts(asOf: "2026-06-01")
    #expect(facts.total(\.refundsUSD) == "10.00")
    #expect(facts.total(\.refundsLocal) == "10.00")
    #expect(facts.total(\.proceedsUSD) == "0.00")
    #expect(facts.revenue.values.reduce(0) { $0 + $1.refunds } == Int64(booked))
    #expect(facts.excluded.map(\.key.reason).allSatisfy { $0 == .overRefund })
    #expect(facts.excluded.values.reduce(0) { $0 + $1.events } == Int64(found.count))
    #expect(try findings(story, .book) == found)
    let all = try story.facts(asOf: "2026-06-01") { $0.doubleCharges = .book }
    #expect(all.excluded.isEmpty)
  }

  @Test(
    "Parts that add up to the charge are booked, even if proceeds give a rounded price",
    arguments: [
      (["4", "6"], false), (["10"], false), (["3.5", "3.5"], true), (["7"], true), (["1"], false),
    ])
  func exact(_ refunds: [String], _ isProceed: Bool) throws {
    let story = story(refunds, isProceed: isProceed)
    #expect(try findings(story).isEmpty)
    #expect(try story.facts(asOf: "2026-06-01").excluded.isEmpty)
  }

  @Test("Repeated refunds of iaptic are limited for each product of a transaction")
  func collections() throws {
    func paid(_ event: inout Event) {
      event.revenue = Revenue(local: usd("10"), usd: usd("10"), currency: 9, isProceed: false)
    }
    var feed = StateFeed(.iaptic)
    for product in [3, 4] as [StringID] {
      feed.report(.purchased, "2026-01-10") {
        $0.product = product
        paid(&$0)
      }
    }
    for (day, product) in [("2026-01-11", 3), ("2026-01-12", 4), ("2026-01-13", 3)]
      as [(String, StringID)]
    {
      feed.report(.purchaseRefunded, day) {
        $0.product = product
        paid(&$0)
      }
    }
    let facts = try feed.facts(asOf: "2026-06-01")
    #expect(facts.total(\.grossUSD) == "20.00" && facts.total(\.refundsUSD) == "20.00")
    #expect(facts.excluded.map(\.key.reason) == [.overRefund])
  }

  @Test("The refund of a lost charge, or of one without an amount, is booked")
  func unknown() throws {
    var lost = story(["10", "10"])
    lost.events.removeFirst()
    #expect(try findings(lost).isEmpty)
    var open = story(["10"])
    open.events[0].revenue = nil
    #expect(try findings(open).isEmpty)
  }

  @Test("Held refunds neither end a period again nor count as refunded renewals")
  func movements() throws {
    let (once, again) = (story(["10"]), story(["10", "10"]))
    var facts = try again.facts(asOf: "2026-06-01")
    #expect(facts.count(.churnedRefund) == 1)
    let single = try once.facts(asOf: "2026-06-01")
    facts.facts.excluded = [:]
    facts.facts.gaps = single.facts.gaps
    #expect(facts == single, "apart from what arrived")
    // A refund above the charge refunds it completely.
    #expect(try story(["12"]).facts(asOf: "2026-06-01").count(.churnedRefund) == 1)
  }
}
