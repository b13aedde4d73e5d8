import TestSupport
import Testing
import Domain

@testable import Subscriptions

@Suite("Purchases missing from a user's later collections")
struct CollectionsTests {
  @Test(
    "Missing purchases are found as by searching all later collections", arguments: 1...40)
  func disappearances(seed: UInt64) {
    var numbers = SeededNumbers(seed: seed)
    func roll(_ sides: Int) -> Int64 { Int64(numbers.below(sides)) }
    var events: [Event] = []
    for collection in 1...30 {
      let time = at("2026-01-01") + .days(roll(20))
      for _ in 0...roll(3) {
        var event = Event(provider: .iaptic, kind: .observed, time: time)
        event.collection = Int64(collection)
        event.identity = Int64(events.count + 1)
        event.lineage = roll(8)
        event.product = StringID(roll(3))
        event.store = roll(3) == 0 ? .playStore : .appStore
        event.observation = roll(6) == 0 ? nil : Observation()
        // A message about another transaction does not show that the collection has its purchase.
        if event.observation == nil, roll(2) == 0 { event.kind = .refunded }
        events.append(event)
      }
    }
    events.sort { ($0.time, $0.identity) < ($1.time, $1.identity) }
    let collections = Collections(events)
    for lineage in 0..<Int64(9) {
      for product in 0..<StringID(4) {
        var opening = Event(provider: .iaptic, kind: .started, time: at("2026-01-01"))
        (opening.lineage, opening.product, opening.store) = (lineage, product, .appStore)
        let found = collections.disappearance(of: opening)
        #expect(found == events.lacking(lineage, product), "seed \(seed)")
      }
    }
  }
}

extension CollectionsTests {
  @Test("Without ids, an end cut by an upgrade belongs to the purchase that it replaced")
  func upgradeWithoutIds() throws {
    for vanishes in [false, true] {
      var feed = StateFeed(.iaptic)
      func show(
        _ time: String, _ collection: Int64, _ product: StringID, until end: String,
        chargedAt charged: String? = nil
      ) {
        feed.show(time, 0, until: end, of: 10) { event, state in
          (event.collection, event.product) = (collection, product)
          event.received = at(collection == 3 ? "2026-06-18" : time) + .seconds(1)
          (state.isTimeInferred, state.firstPurchasedAt) = (true, at("2026-05-12"))
          state.lastChargedAt = charged.map { at($0) }
          guard product == StateFeed.monthly, collection > 1 else { return }
          (state.isReplaced, state.isOwned) = (true, false)
        }
      }
      show("2026-05-12", 1, StateFeed.monthly, until: "2026-06-12")
      show("2026-06-01", 2, StateFeed.monthly, until: "2026-06-01")
      show("2026-06-01", 2, StateFeed.yearly, until: "2026-07-01", chargedAt: "2026-06-01")
      // Its content has no time after the first purchase.
      if vanishes { show("2026-05-12", 3, StateFeed.monthly, until: "2026-06-01") }
      let reported = try feed.history()
      #expect(reported.prefix(1) == ["started 2026-05-12"])
      #expect(reported.contains("product_changed 2026-06-01"))
      #expect(reported.contains("revoked 2026-06-18T00:00:01") == vanishes)
      let facts = try feed.facts(asOf: "2026-08-01")
      #expect(facts.revenue.values.reduce(0) { $0 + $1.charges } == 2)
      #expect(facts.days(.churnedRefund) == (vanishes ? ["2026-06-18"] : []))
    }
  }

  @Test("Without a charge's date, a replaced purchase keeps the date that its whole end shows")
  func replacedUndated() throws {
    var feed = StateFeed(.iaptic)
    for (received, end) in [("2026-06-02", "2026-07-02"), ("2026-06-20", "2026-06-20")] {
      feed.show("2026-05-02", 0, until: end, of: 10) { event, state in
        event.received = at(received)
        (state.isTimeInferred, state.firstPurchasedAt) = (true, at("2026-05-02"))
        guard received == "2026-06-20" else { return }
        (state.isReplaced, state.isOwned) = (true, false)
      }
    }
    let facts = try feed.histories(asOf: "2026-08-01", lengths)
    #expect(facts.compactMap(\.state).flatMap(\.charges).map(\.time) == [at("2026-06-02")])
  }

  @Test("With an upgrade under one original id, the new product can vanish and the old one stay")
  func upgrade() throws {
    var feed = StateFeed(.iaptic)
    func show(_ time: String, _ collection: Int64, _ product: StringID, until end: String) {
      feed.show(time, 0, until: end, of: 10) { event, state in
        (event.collection, event.product) = (collection, product)
        guard product == StateFeed.monthly, collection > 1 else { return }
        (state.isReplaced, state.isOwned) = (true, false)
      }
    }
    show("2026-05-12", 1, StateFeed.monthly, until: "2026-06-12")
    for collection in [2, 3] as [Int64] {
      let time = collection == 2 ? "2026-06-01" : "2026-06-18"
      show(time, collection, StateFeed.monthly, until: "2026-06-01")
      if collection == 2 { show(time, collection, StateFeed.yearly, until: "2026-07-01") }
    }
    #expect(try feed.history().last == "revoked 2026-06-18")
    #expect(try feed.facts(asOf: "2026-06-20").days(.churnedRefund) == ["2026-06-18"])
  }
}

extension [Event] {
  /// An event of the first collection without `product` after the last collection with both.
  func lacking(_ lineage: Int64, _ product: StringID) -> Event? {
    let deliveries = Dictionary(grouping: self, by: \.collection).values.sorted {
      ($0[0].time, $0[0].identity) < ($1[0].time, $1[0].identity)
    }
    func holds(_ delivery: [Event], _ isSuch: (Event) -> Bool) -> Bool {
      delivery.contains { $0.observation != nil && isSuch($0) }
    }
    let last = deliveries.lastIndex { delivery in
      holds(delivery) { $0.lineage == lineage && $0.product == product }
    }
    guard let last else { return nil }
    return deliveries[(last + 1)...].first {
      $0[0].time > deliveries[last][0].time
        && !holds($0) { $0.product == product && $0.store == .appStore }
    }?.first
  }
}
