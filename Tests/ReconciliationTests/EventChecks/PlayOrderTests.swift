import Domain
import Reconciliation
import Subscriptions
import Testing

@Suite("Numbers of Play orders, if the provider counts no renewals")
struct PlayOrderTests {
  private let first = "GPA.1-2-3-4"

  /// Charges by date in 2026 and order number; -1 is the first order.
  private func breaks(
    _ orders: [(month: String, number: Int)], and others: [(month: String, id: String)] = [],
    tried: Bool = false, triedAgain: String? = nil, bought: String? = nil,
    length: PeriodLength = .months(1), from provider: Provider = .flobuk,
    listed: SnapshotTransaction? = nil, canceled: (month: String, number: Int)? = nil,
    changedToYearly: String? = nil
  ) throws -> [Break] {
    var (story, texts) = (Story(original: first), [transactionKey(first): first])
    if tried {
      story.report(
        .trialStarted, "2026-01-25",
        until: provider.capabilities.sendsPeriodEnds ? "2026-02-01" : nil,
        transaction: transactionKey(first))
    }
    let named = orders.map { ($0.month, $0.number < 0 ? first : first + "..\($0.number)") }
    for (start, id) in named + others {
      texts[transactionKey(id)] = id
      let end = length.end(from: at(start))
      story.report(
        id.contains("..") ? .renewed : .started, start, transaction: transactionKey(id), price: 10
      ) { $0.periodEnd = end }
    }
    if let canceled { cancel(canceled, length, in: &story, &texts) }
    reportLater(triedAgain, changedToYearly, in: &story)
    for index in story.events.indices {
      if let bought {
        var state = Observation()
        state.firstPurchasedAt = at(bought)
        story.events[index].observation = state
      }
      story.events[index].provider = provider
      story.events[index].store = .playStore
    }
    let rules = FoldSettings(asOf: at("2026-08-01"))
    let state = try #require(try SubscriptionHistory(events: story.events, rules: rules).state)
    var reconcileRules = ReconciliationSettings(fold: rules)
    reconcileRules.feeds = [
      Watermark(
        of: Feed(provider: provider, app: 0), app: "app", newest: rules.asOf,
        begin: at("2025-10-01"))
    ]
    let snapshot = listed.map { listed in
      var shown = premium(until: "2026-06-01", listing: [listed])
      shown.store = .playStore
      return Snapshot(
        provider: provider, user: "ada", capturedAt: at("2026-05-10"), entitlements: [shown])
    }
    let then = try snapshot.flatMap {
      try SubscriptionHistory(events: story.events, rules: FoldSettings(asOf: $0.capturedAt)).state
    }
    let lineage = LineageInput(
      state: then ?? state, current: then == nil ? nil : state, original: first, user: "ada",
      app: "app", words: Story.words, transactions: texts)
    return reconcile(
      ReconciliationInput(
        provider: provider, user: "ada", snapshot: snapshot, lineages: [lineage]),
      rules: reconcileRules, checkStop: {}
    ).breaks.sorted { $0.code.rawValue < $1.code.rawValue }
  }

  private func reportLater(
    _ triedAgain: String?, _ changedToYearly: String?, in story: inout Story
  ) {
    if let triedAgain { story.report(.trialStarted, triedAgain, transaction: 7) }
    if let changedToYearly {
      story.report(
        .upgraded, changedToYearly, until: "2027-04-20", transaction: 8, price: 80,
        product: Story.yearly)
    }
  }

  private func cancel(
    _ order: (month: String, number: Int), _ length: PeriodLength, in story: inout Story,
    _ texts: inout [Int64: String]
  ) {
    let id = first + "..\(order.number)"
    texts[transactionKey(id)] = id
    let end = length.end(from: at(order.month))
    story.report(.canceled, order.month, transaction: transactionKey(id)) { $0.periodEnd = end }
  }

  @Test("A skipped number is a missing renewal")
  func leftOut() throws {
    let found = try breaks([("2026-01-01", -1), ("2026-04-01", 2)])
    #expect(found.map(\.code) == [.missedRenewal])
    #expect(found.map(\.missingEvents) == [2])
    #expect(found.map(\.expectedAt) == [at("2026-02-01")])
    #expect(found.first?.evidence.contains("order GPA.1-2-3-4..2") == true)
    #expect(try breaks([("2026-01-01", -1), ("2026-02-01", 0), ("2026-03-01", 1)]).isEmpty)
    let changed = try breaks(
      [("2026-01-01", -1), ("2026-04-01", 2)], changedToYearly: "2026-04-20")
    #expect(changed.map(\.id) == found.map(\.id) && changed.map(\.missingEvents) == [2])
  }

  @Test("A time without charge is as many charges as the next order's number shows, at most")
  func freePeriods() throws {
    for provider in Provider.allCases where !provider.capabilities.sendsRenewalOrdinals {
      let found = try breaks([("2026-01-01", -1), ("2026-05-01", 1)], from: provider)
      #expect(found.map(\.missingEvents) == [1], "\(provider)")
    }
  }

  @Test("An order that a cancel names is as many charges as its number shows, at most")
  func named() throws {
    func counts(_ number: Int) throws -> [Int64] {
      try breaks([("2026-01-01", -1)], from: .qonversion, canceled: ("2026-06-01", number)).map(
        \.missingEvents)
    }
    #expect(try counts(0) == [1])
    #expect(try counts(1) == [2])
    #expect(try counts(8) == [5])
  }

  @Test("A declined order has a number but no time of its own")
  func declined() throws {
    #expect(try breaks([("2026-01-01", -1), ("2026-02-06", 1)]).isEmpty)
  }

  @Test("A free period before the next number was not charged")
  func nextNumber() throws {
    #expect(try breaks([("2026-01-01", -1), ("2026-03-01", 0)]).isEmpty)
    #expect(try breaks([("2026-01-01", -1), ("2026-03-01", 1)]).map(\.code) == [.missedRenewal])
    #expect(try breaks([("2026-03-01", 0)], tried: true).isEmpty)
  }

  @Test("The first order that arrived proves earlier ones, except starts that Purple may not send")
  func firstThatCame() throws {
    let found = try breaks([("2026-03-01", 1)])
    #expect(found.map(\.code) == [.missedRenewal, .missedStart])
    #expect(found.map(\.expectedAt?.text.description).last == at("2026-01-01").text)
    #expect(try breaks([("2026-03-01", 1)], from: .purple).map(\.code) == [.missedRenewal])
    #expect(try breaks([("2026-03-01", 0)], from: .purple).isEmpty)
  }

  @Test("A later first order that is missing is a new start")
  func laterOrder() throws {
    let again = ["GPA.5-6-7-8", "GPA.5-6-7-8..0"]
    func codes(_ ids: [String]) throws -> [BreakCode] {
      let later = zip(["2026-05-01", "2026-06-01"], again).filter { ids.contains($0.1) }
      return try breaks([("2026-01-01", -1)], and: later).map(\.code)
    }
    #expect(try codes(again) == [])
    #expect(try codes([again[1]]) == [.missedStart])
  }

  @Test("A later first order that a snapshot lists, and the number after it, is one loss")
  func listedOrder() throws {
    let order = bought(1, .started, "2026-05-01", until: "2026-06-01") {
      ($0.id, $0.originalID) = ("GPA.5-6-7-8", "GPA.5-6-7-8")
    }
    let found = try breaks(
      [("2026-01-01", -1)], and: [("2026-06-01", "GPA.5-6-7-8..0")], from: .iaptic, listed: order)
    #expect(found.map(\.code) == [.missedStart])
    #expect(found.map(\.transaction) == ["GPA.5-6-7-8"])
  }

  @Test("After a trial whose end is not sent, the second number proves a conversion")
  func trialWithoutEnd() throws {
    let found = try breaks([("2026-03-01", 1)], tried: true, from: .purple)
    #expect(found.map(\.code) == [.missedConversion])
    let due = try #require(found.first?.expectedAt)
    #expect(at("2026-01-28") < due && due <= at("2026-02-01"))
    #expect(try breaks([("2026-03-01", 0)], tried: true, from: .purple).isEmpty)
  }

  @Test("A first number long after the purchase proves a single start, not several charges")
  func longTrial() throws {
    func starts(_ bought: String, _ length: PeriodLength) throws -> [Amount?] {
      let found = try breaks([("2026-03-01", 0)], bought: bought, length: length, from: .iaptic)
      #expect(found.map(\.code) == [.missedStart])
      #expect(found.map(\.expectedAt) == [at(bought)])
      return found.map(\.estimatedUSD)
    }
    #expect(try starts("2026-02-15", .days(7)) == [.zero])
    #expect(try starts("2026-01-10", .months(1)) == [Amount(micros: 10_000_000)])
  }

  @Test("A missing first order long after a trial is a start")
  func afterLapsedTrial() throws {
    let found = try breaks(
      [], and: [("2026-06-01", "GPA.5-6-7-8..0")], tried: true, from: .iaptic)
    #expect(found.map(\.code) == [.missedStart])
    let due = try #require(found.first?.expectedAt)
    #expect(at("2026-04-29") < due && due < at("2026-05-03"))
    let changed = try breaks(
      [], and: [("2026-06-01", "GPA.5-6-7-8..0")], tried: true, from: .iaptic,
      changedToYearly: "2026-06-20")
    #expect(changed.map(\.id) == found.map(\.id))
    // The trial's own order was never renewed.
    let own = try breaks([("2026-06-01", 1)], tried: true, from: .iaptic)
    #expect(own.map(\.code) == [.missedConversion])
    #expect(own.map(\.expectedAt) == [at("2026-02-01")])
  }

  @Test("A later trial is not the one before the first charge")
  func triedAgain() throws {
    let found = try breaks(
      [("2026-03-01", 1)], tried: true, triedAgain: "2026-06-10", from: .purple)
    #expect(found.map(\.code) == [.missedConversion])
    let due = try #require(found.first?.expectedAt)
    #expect(at("2026-01-28") < due && due <= at("2026-02-01"))
  }

  @Test("After a trial, the first number is the conversion")
  func afterTrial() throws {
    #expect(try breaks([("2026-02-01", 0), ("2026-03-01", 1)], tried: true).isEmpty)
    let found = try breaks([("2026-03-01", 1)], tried: true)
    #expect(found.map(\.code) == [.missedConversion])
  }
}
