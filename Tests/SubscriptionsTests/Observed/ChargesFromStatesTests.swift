import Testing
import Domain

@testable import Subscriptions

@Suite("Charges that states prove")
struct ChargesFromStatesTests {
  @Test("Each transaction with a period is a charge; one that continues another is a renewal")
  func renewals() throws {
    var feed = StateFeed(.flobuk)
    feed.show("2026-01-10", 10, until: "2026-02-10")
    feed.show("2026-02-10T00:00:09", 11, until: "2026-03-10")
    feed.show("2026-03-10T00:00:04", 12, until: "2026-04-10")
    #expect(
      try feed.history() == [
        "started 2026-01-10", "renewed 2026-02-10T00:00:09", "renewed 2026-03-10T00:00:04",
      ])
    let facts = try feed.facts(asOf: "2026-03-20")
    #expect(facts.count(.new) == 1 && facts.count(.churned) == 0)
    #expect(facts.renewalOrdinals == [1, 2])
  }

  @Test("A transaction later than the gap after an end is a first charge again")
  func lapse() throws {
    var feed = StateFeed(.flobuk)
    feed.show("2026-01-10", 10, until: "2026-02-10")
    feed.show("2026-02-11T00:00:01", 11, until: "2026-03-10")
    #expect(try feed.history() == ["started 2026-01-10", "resubscribed 2026-02-11T00:00:01"])
    #expect(try feed.facts(asOf: "2026-03-01").count(.reactivated) == 1)
    feed.events[1].time = at("2026-02-11")
    #expect(try feed.history() == ["started 2026-01-10", "renewed 2026-02-11"])
  }

  @Test("A FLOBUK message dates its charge; an iaptic collection may be about another purchase")
  func messageTime() throws {
    for (provider, charged) in [
      (Provider.flobuk, "2026-02-01T00:05:00"), (.iaptic, "2026-01-31T23:55:00"),
    ] {
      var feed = StateFeed(provider)
      feed.show("2026-01-10", 10, until: "2026-01-31T23:55:00")
      feed.show("2026-02-01T00:05:00", 11, until: "2026-03-01")
      #expect(try feed.history() == ["started 2026-01-10", "renewed \(charged)"])
    }
  }

  @Test("A renewal seen late in its period was charged when the previous one ended")
  func seenLate() throws {
    for provider in [Provider.iaptic, .flobuk] {
      for rules in [lengths, { _ in }] {
        var feed = StateFeed(provider)
        feed.show("2026-01-10", 10, until: "2026-02-10")
        feed.show("2026-02-25", 11, until: "2026-03-10") { $1.isAutoRenewing = false }
        let facts = try feed.facts(asOf: "2026-03-01", rules)
        #expect(facts.count(.churned) == 0 && facts.renewalOrdinals == [1], "\(provider)")
      }
    }
  }

  @Test("FLOBUK's trial after a lapse was charged when it was seen, not a period before its end")
  func trialAfterLapse() throws {
    var feed = StateFeed(.flobuk)
    feed.show("2026-01-10", 10, until: "2026-02-10")
    feed.show("2026-01-20", 10, until: "2026-02-10") {
      ($1.isOwned, $1.isAutoRenewing) = (false, false)
    }
    feed.show("2026-02-20", 11, until: "2026-02-27")
    let facts = try feed.facts(asOf: "2026-03-01", lengths)
    #expect(facts.days(.reactivated) == ["2026-02-20"])
  }

  @Test("A charge after a lapse, a failed payment or a revocation was made when it was seen")
  func seenAfterLapse() throws {
    var lapse = StateFeed(.iaptic)
    lapse.show("2026-01-10", 10, until: "2026-02-10")
    lapse.show("2026-02-25", 11, until: "2026-03-24") { $1.isAutoRenewing = false }
    #expect(try lapse.facts(asOf: "2026-03-01", lengths).days(.reactivated) == ["2026-02-25"])
    lapse.events[1].periodEnd = at("2026-03-15")
    #expect(try lapse.facts(asOf: "2026-03-01", lengths).days(.reactivated) == ["2026-02-15"])
    var failed = StateFeed(.iaptic)
    failed.show("2026-01-10", 10, until: "2026-02-10")
    failed.show("2026-02-10", 10, until: "2026-02-10") { $1.isInBillingRetry = true }
    failed.show("2026-02-25", 11, until: "2026-03-25")
    for rules in [lengths, { _ in }] {
      #expect(try failed.facts(asOf: "2026-03-01", rules).days(.recovered) == ["2026-02-25"])
    }
  }

  @Test("A purchase without an id after more than the gap is a reactivation")
  func shortGap() throws {
    var feed = StateFeed(.iaptic)
    for end in ["2026-02-10T00:00:00", "2026-03-10T12:00:00"] {
      feed.show("2026-01-10", 0, until: end, of: 10) { $1.firstPurchasedAt = at("2026-01-10") }
    }
    for (hours, count) in [(24, 0), (1, 1)] as [(Int64, Int64)] {
      let facts = try feed.facts(asOf: "2026-03-01") {
        $0.periods = [StateFeed.monthly: .months(1)]
        $0.renewalGap = .hours(hours)
      }
      #expect(facts.count(.reactivated) == count, "\(hours) h")
    }
  }

  @Test("The reports' time zone does not affect whether a first period is long enough")
  func zones() throws {
    var feed = StateFeed(.flobuk)
    feed.show("2026-03-01T00:00:01", 10, until: "2026-04-01T00:00:01") { _, state in
      state.firstPurchasedAt = at("2026-03-01T00:00:01")
    }
    for hours in [-5, 0, 14] as [Int64] {
      let facts = try feed.facts(asOf: "2026-03-20") {
        $0.periods = [StateFeed.monthly: .months(1)]
        $0.calendar = zone(hours)
      }
      #expect(facts.count(.new) == 1 && facts.count(.firstSeen) == 0, "\(hours) h")
    }
  }

  @Test("A first transaction first seen in grace was charged at its purchase")
  func firstInGrace() throws {
    for transaction in [10, 0] as [Int64] {
      for (end, isFirst) in [("2026-03-20", true), ("2026-04-02", transaction != 0)] {
        var feed = StateFeed(.iaptic)
        feed.show("2026-03-09", transaction, until: end, of: 10) { event, state in
          event.kind = .graceEntered
          (state.firstPurchasedAt, state.isInBillingRetry) = (at("2026-02-02"), true)
        }
        let first = try feed.histories(asOf: "2026-04-20", lengths).first?.events.first
        #expect(first?.kind == (isFirst ? .started : .renewed), "\(transaction) \(end)")
        #expect((first?.time == at("2026-02-02")) == isFirst)
      }
    }
  }

  @Test("A transaction that does not begin its lineage was renewed before it was seen")
  func firstSeen() throws {
    var feed = StateFeed(.flobuk)
    feed.show("2026-01-10", 12, until: "2026-02-10", of: 10) { event, _ in
      event.store = .playStore
      event.user = 0
    }
    let facts = try feed.facts(asOf: "2026-01-20")
    #expect(facts.count(.firstSeen) == 1 && facts.renewalOrdinals == [nil])
    feed.events[0].transaction = 10
    feed.events[0].startsLineage = true
    #expect(try feed.facts(asOf: "2026-01-20").count(.new) == 1)
  }

  @Test("A different product within the gap is a product change")
  func change() throws {
    var feed = StateFeed(.flobuk)
    feed.show("2026-01-10", 10, until: "2026-02-10") { event, state in state.group = 5 }
    feed.show("2026-01-20", 11, until: "2027-01-20") { event, state in
      event.product = StateFeed.yearly
      state.group = 5
    }
    #expect(try feed.history() == ["started 2026-01-10", "product_changed 2026-01-20"])
    let facts = try feed.facts(asOf: "2026-02-01")
    #expect(facts.charges(.productChange) == 1 && facts.renewalOrdinals.isEmpty)
    #expect(facts.count(.transferOut) == 1)
    #expect(facts.count(.transferIn, product: StateFeed.yearly) == 1)
  }

  @Test("A purchase without an end is one-time; one awaiting payment is not charged")
  func oneTime() throws {
    var feed = StateFeed(.iaptic)
    feed.show("2026-01-10", 10, until: nil) { _, state in
      state.firstPurchasedAt = at("2026-01-09")
    }
    #expect(try feed.history() == ["purchased 2026-01-09"])
    feed.show("2026-01-11", 11, until: "2026-02-11") { event, state in
      event.product = StateFeed.yearly
      state.isPending = true
    }
    let facts = try feed.facts(asOf: "2026-03-01")
    #expect(facts.charges(.oneTime) == 1 && facts.charges(.first) == 0)
  }

  @Test("The first charge after a trial is its conversion, in states and in reported renewals")
  func trial() throws {
    var feed = StateFeed(.iaptic)
    feed.show("2026-01-01", 10, until: "2026-01-08") { _, state in state.isTrial = true }
    feed.show("2026-01-08T00:01:00", 11, until: "2026-02-08", of: 10)
    #expect(try feed.history() == ["trial_started 2026-01-01", "trial_converted 2026-01-08"])
    feed.events[1].kind = .renewed
    #expect(
      try feed.history() == [
        "trial_started 2026-01-01", "trial_converted 2026-01-08T00:01:00",
      ])
    let facts = try feed.facts(asOf: "2026-02-01")
    #expect(facts.trials.values.map(\.converted) == [1] && facts.count(.new) == 1)
  }

  @Test("Without transaction ids a later end is a renewal, or grace in billing retry")
  func oldBodies() throws {
    var feed = StateFeed(.iaptic)
    for end in ["2026-02-10", "2026-03-10"] {
      feed.show("2026-01-10", 0, until: end, of: 10) { _, state in
        state.firstPurchasedAt = at("2026-01-10")
      }
    }
    #expect(try feed.history() == ["started 2026-01-10", "renewed 2026-02-10"])
    feed.events[1].time = at("2026-02-10T00:00:05")
    feed.events[1].observation?.isInBillingRetry = true
    let facts = try feed.facts(asOf: "2026-04-01")
    #expect(facts.days(.churnedInvoluntary) == ["2026-03-10"] && facts.renewalOrdinals.isEmpty)
  }

  @Test("A purchase older than its product's period was charged again since")
  func knownLength() throws {
    var feed = StateFeed(.iaptic)
    feed.show("2026-01-20", 0, until: "2026-02-10", of: 10) { _, state in
      state.firstPurchasedAt = at("2025-01-10")
    }
    #expect(try feed.facts(asOf: "2026-02-01", lengths).days(.firstSeen) == ["2026-01-10"])
    feed.events[0].observation?.firstPurchasedAt = at("2026-01-09")
    #expect(try feed.facts(asOf: "2026-02-01", lengths).days(.new) == ["2026-01-09"])
  }

  @Test("A repurchase within a running period was charged for its own length")
  func boughtAnew() throws {
    var feed = StateFeed(.iaptic)
    for end in ["2026-07-10", "2026-10-05"] {
      feed.show("2025-07-10", 0, until: end, of: 10) { _, state in
        state.firstPurchasedAt = at("2025-07-10")
      }
    }
    let yearly: (inout FoldSettings) -> Void = { $0.periods = [StateFeed.monthly: .months(12)] }
    func charged(_ change: (inout FoldSettings) -> Void = { _ in }) throws -> [String] {
      let histories = try feed.histories(asOf: "2026-01-01", change)
      return histories.flatMap { $0.state?.charges ?? [] }.map { text($0.time) }
    }
    #expect(try charged(yearly) == ["2025-07-10", "2025-10-05"])
    // Without a known length, it was charged at its receipt at the latest.
    #expect(try charged() == ["2025-07-10"])
    feed.events[1].received = at("2025-10-06")
    #expect(try charged() == ["2025-07-10", "2025-10-06"])
  }

  @Test("If no body has a date, a period began one length before its end")
  func undated() throws {
    var feed = StateFeed(.flobuk)
    for (transaction, end) in [(Int64(10), "2026-02-10"), (11, "2026-03-20")] {
      feed.show(end, transaction, until: end) { _, state in state.isUndated = true }
    }
    let facts = try feed.facts(asOf: "2026-04-01", lengths)
    #expect(facts.days(.new) == ["2026-01-10"] && facts.days(.reactivated) == ["2026-02-20"])
    feed.events[1].periodEnd = at("2026-03-11")
    #expect(try feed.facts(asOf: "2026-04-01", lengths).count(.reactivated) == 0)
    #expect(try feed.facts(asOf: "2026-04-01").days(.new) == ["2026-02-10"])
  }

  @Test("A period first seen after its end was charged before its end")
  func seenTooLate() throws {
    var feed = StateFeed(.flobuk)
    feed.show("2026-02-10T00:03:00", 10, until: "2026-02-10") { _, state in state.isOwned = false }
    #expect(try feed.facts(asOf: "2026-04-01", lengths).days(.new) == ["2026-01-10"])
    #expect(try feed.history() == ["expired 2026-02-10", "started 2026-02-10"])
    #expect(try feed.histories(asOf: "2026-04-01").flatMap(\.findings).isEmpty)
    feed.events[0].time = at("2026-02-09")
    #expect(try feed.facts(asOf: "2026-04-01", lengths).days(.new) == ["2026-02-09"])
  }

  @Test("A reported charge is not derived again, whichever arrived first")
  func reportedBeats() throws {
    var feed = StateFeed(.iaptic)
    feed.show("2026-01-10", 10, until: "2026-02-10")
    feed.show("2026-01-10T00:00:09", 10, until: "2026-02-10")
    feed.events[1].kind = .started
    #expect(try feed.history() == ["started 2026-01-10T00:00:09"])
    feed.events[1].kind = .observed
    #expect(try feed.history() == ["started 2026-01-10"])
  }

  @Test(
    "A charge uses the amounts next to a reported event, except those of a trial")
  func amountsBesideEvents() throws {
    var feed = StateFeed(.iaptic)
    feed.show("2026-01-12", 10, until: "2026-02-10") { event, state in
      event.kind = .canceled
      event.price = Price(local: Amount(micros: 5_000_000), usd: Amount(micros: 6_000_000))
      state.isAutoRenewing = false
    }
    let paid = try feed.facts(asOf: "2026-04-01").revenue
    #expect(paid.count == 1 && paid.keys.first?.basis == .provider)
    #expect(paid.values.first?.grossUSD.sum == Amount(micros: 6_000_000))
    feed.events[0].observation?.isTrial = true
    #expect(try feed.facts(asOf: "2026-04-01").revenue.isEmpty)
  }
}
