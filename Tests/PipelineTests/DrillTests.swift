import Testing
import Subscriptions
import Domain

@testable import EventStore
@testable import Pipeline

@Suite("A drill draws events and expects the break of each damage")
struct DrillTests {
  private static let start = Instant(seconds: 1_700_000_000)
  private static let limits = DamageLimits(
    window: .hours(24), newest: start + .days(400), foreignCurrency: 9,
    rules: FoldSettings(asOf: start + .days(400)))

  private func row(_ key: Int64, user: Int64) -> LineageRow {
    LineageRow(
      scope: SubscriptionScope(lineage: key, provider: .qonversion, app: 1, store: .appStore),
      original: "\(key)", user: user, hasSuperseded: false, isCompared: false)
  }

  private func event(_ kind: EventKind, day: Int64, lineage: Int64 = 1) -> Event {
    var event = Event(store: .appStore, kind: kind, time: Self.start + .days(day))
    event.lineage = lineage
    event.identity = lineage * 1_000 + day
    event.transaction = lineage * 1_000 + day
    event.created = event.time + .seconds(30)
    event.received = event.time + .seconds(40)
    event.place = Provenance(archive: 1, line: event.identity)
    if kind == .renewed || kind == .started {
      event.revenue = Revenue(
        local: Amount(micros: 9_990_000), usd: Amount(micros: 9_990_000), currency: 2,
        isProceed: false, rate: Amount(micros: 70_000_000))
    }
    return event
  }

  private func damage(
    _ kind: DamageKind, _ event: Event, among events: [Event]
  ) throws -> Damage? {
    // Ranks that draw this kind; the corruption is any that the event allows.
    for rank in (0..<500).map({ UInt64($0) << 8 | UInt64($0) << 32 }) {
      let candidate = DrillCandidate(rank: rank, row: row(event.lineage, user: 5), event: event)
      let drawn = try Damage.drawn(for: candidate, among: events, within: Self.limits)
      if drawn?.kind == kind { return drawn }
    }
    return nil
  }

  @Test("The sample has the lowest ranks, one per user, in any order of events")
  func sample() {
    let offers = (0..<200).flatMap { lineage in
      (0..<4).map { day in
        (row(lineage, user: 1 + lineage / 2), event(.renewed, day: day, lineage: lineage))
      }
    }
    func chosen(_ offers: [(LineageRow, Event)], seed: UInt64) -> [Int64] {
      var sample = DrillSample(seed: seed, count: 20, asOf: Self.start + .days(3))
      for (row, event) in offers { sample.offer(event, of: row) }
      #expect(Set(sample.chosen.map(\.row.user)).count == 20)
      #expect(sample.chosen.allSatisfy { $0.event.time < Self.start + .days(3) })
      return sample.chosen.map(\.event.identity)
    }
    let first = chosen(offers, seed: 1)
    #expect(first == chosen(offers.reversed(), seed: 1))
    #expect(first != chosen(offers, seed: 2))
  }

  @Test("Sandbox events, and kinds whose loss has no break code, are not drawn")
  func notDrawn() {
    var sample = DrillSample(seed: 1, count: 20, asOf: Self.start + .days(30))
    var sandbox = event(.renewed, day: 1)
    sandbox.environment = .sandbox
    sample.offer(sandbox, of: row(1, user: 1))
    sample.offer(event(.observed, day: 1), of: row(2, user: 2))
    sample.offer(event(.other, day: 1), of: row(3, user: 3))
    #expect(sample.chosen.isEmpty)
  }

  @Test("A removed event must be found as a missing event of its kind")
  func removed() throws {
    for (kind, code) in [
      (EventKind.renewed, BreakCode.missedRenewal), (.trialStarted, .missedStart),
      (.refunded, .missedRefund), (.canceled, .missedCancel), (.expired, .missedExpiration),
    ] {
      let reported = event(kind, day: 1)
      let done = try damage(.removed, reported, among: [reported])
      #expect(done?.expected == [code])
      #expect(done?.forgets == true && done?.delivered == nil)
    }
  }

  @Test("A delay must be found as late, and as out of order if a later event arrived first")
  func delayed() throws {
    let reported = event(.renewed, day: 1)
    #expect(try damage(.delayed, reported, among: [reported])?.expected == [.late])
    let next = event(.canceled, day: 2)
    #expect(
      try damage(.delayed, reported, among: [reported, next])?.expected == [.late, .outOfOrder])
  }

  @Test("Events at as-of or later cannot have overtaken another")
  func afterAsOf() throws {
    let reported = event(.renewed, day: 397)
    for (day, expected) in [(399, [BreakCode.late, .outOfOrder]), (400, [.late])] {
      var next = event(.expired, day: Int64(day))
      next.received = reported.received
      #expect(try damage(.delayed, reported, among: [reported, next])?.expected == expected)
    }
  }

  @Test("A swap needs a later event, and events that were late already are not damaged")
  func swapped() throws {
    let reported = event(.renewed, day: 1)
    #expect(try damage(.swapped, reported, among: [reported]) == nil)
    let next = event(.canceled, day: 31)
    let done = try damage(.swapped, reported, among: [reported, next])
    #expect(done?.expected == [.late, .outOfOrder])
    #expect(done?.delivered?.received == next.received.map { $0 + .seconds(1) })
    var late = reported
    late.received = reported.time + .days(3)
    for kind in [DamageKind.delayed, .swapped, .corrupted] {
      #expect(try damage(kind, late, among: [late, next]) == nil)
    }
  }

  @Test("A corruption replaces the event by a conflict, or by money where none belongs")
  func corrupted() throws {
    let charge = event(.renewed, day: 1)
    let conflict = try #require(
      Corruption(of: charge, among: [charge], Self.limits, draw: 0))
    #expect(conflict.code == .conflict)
    #expect(conflict.event.created ?? charge.time < charge.created ?? charge.time)
    #expect(conflict.event.identity == charge.identity && conflict.event.body != charge.body)
    var cancel = event(.canceled, day: 1)
    cancel.created = nil
    let money = try #require(Corruption(of: cancel, among: [cancel], Self.limits, draw: 0))
    #expect(money.code == .unexpectedRevenue && money.event.revenue?.usd != nil)
    var refund = charge
    (refund.kind, refund.time, refund.created) = (.refunded, charge.time + .days(1), nil)
    let whole = Corruption(of: refund, among: [charge, refund], Self.limits, draw: 0)
    #expect(whole?.code == .envLeak)
    refund.revenue?.usd = Amount(micros: 1_000_000)
    refund.revenue?.local = Amount(micros: 1_000_000)
    let currency = Corruption(of: refund, among: [charge, refund], Self.limits, draw: 0)
    #expect(currency?.code == .currencyMismatch && currency?.event.revenue?.currency == 9)
  }

  @Test("A leak is in the sandbox, dollars are 1.5 times as high, a period ends before it starts")
  func corruptedAcross() throws {
    var charge = event(.renewed, day: 10)
    (charge.created, charge.periodStart) = (nil, charge.time)
    charge.periodEnd = charge.time + .days(30)
    let next = event(.renewed, day: 40)
    var limits = Self.limits
    var quotes: [ExchangeRates.Quote: Int64] = [:]
    for day in 8...12 {
      let paid = (0..<2).map { event(.renewed, day: Int64(day), lineage: 100 + Int64($0)) }
      for event in paid {
        try SubscriptionHistory(events: [event], rules: Self.limits.rules).book(into: &quotes)
      }
    }
    limits.rates = ExchangeRates(quotes)
    func codes(_ events: [Event], _ limits: DamageLimits) -> [BreakCode: Event] {
      let drawn = (0..<4).compactMap {
        Corruption(of: charge, among: events, limits, draw: UInt64($0))
      }
      return Dictionary(drawn.map { ($0.code, $0.event) }) { $1 }
    }
    let wrong = codes([charge, next], limits)
    #expect(Set(wrong.keys) == [.envLeak, .impossibleSequence, .fxOutlier])
    #expect(wrong[.envLeak]?.environment == .sandbox)
    #expect(wrong[.fxOutlier]?.revenue?.usd == Amount(micros: 14_985_000))
    #expect(wrong[.impossibleSequence]?.periodEnd ?? charge.time < charge.time)
    // The end must be of the newest period, and fewer than nine others show no rate.
    #expect(Set(codes([charge], Self.limits).keys) == [.envLeak])
  }

  @Test("A state is lost with its whole line, and only if no other line reports the same")
  func removedStates() throws {
    func state(_ day: Int64, _ transaction: Int64, collection: Int64) -> Event {
      var state = event(.observed, day: day)
      (state.provider, state.transaction, state.collection) = (.iaptic, transaction, collection)
      state.identity = collection * 10 + transaction
      (state.created, state.user) = (nil, 5)
      state.periodStart = Self.start + .days(transaction)
      state.periodEnd = Self.start + .days(transaction + 30)
      var seen = Observation()
      seen.lastChargedAt = state.periodStart
      state.observation = seen
      return state
    }
    let (first, again) = (state(1, 1, collection: 1), state(31, 1, collection: 2))
    let renewed = state(31, 31, collection: 2)
    let candidate = DrillCandidate(rank: 0, row: row(1, user: 5), event: renewed)
    let reported = [first, again, renewed]
    let done = try #require(
      try Damage.drawn(for: candidate, among: reported, within: Self.limits))
    #expect(done.kind == .removed && done.expected == [.missedRenewal])
    #expect(done.companions.map(\.identity) == [again.identity] && done.loss?.transaction == 31)
    let other = DrillCandidate(rank: 0, row: row(1, user: 5), event: first)
    let healed = try Damage.drawn(for: other, among: reported, within: Self.limits)
    #expect(healed?.kind == .duplicated)
  }

  @Test("An event whose loss the data cannot show has a reason")
  func excuses() {
    let start = event(.started, day: 1)
    let cancel = event(.canceled, day: 2)
    let end = event(.expired, day: 31)
    func excuse(
      _ event: Event, reported: [Event], capturedOn day: Int64 = 40, naming: [Event] = []
    ) -> String? {
      var entitlement = Entitlement(id: "premium")
      entitlement.transactions = naming.map {
        SnapshotTransaction(id: "\($0.transaction)", originalID: "")
      }
      let snapshot = Snapshot(
        provider: .qonversion, app: "app", user: "u", capturedAt: Self.start + .days(day),
        entitlements: [entitlement])
      let holder = UserKey(provider: .qonversion, user: 5)
      return DrillEvidence(
        events: [holder: reported], snapshots: [holder: snapshot],
        allFirst: [.qonversion: Self.start]
      ).excuse(for: event, of: holder)
    }
    let reported = [start, cancel, end]
    #expect(excuse(start, reported: reported, naming: [start]) == nil)
    #expect(excuse(start, reported: reported) == "not in the snapshot")
    #expect(
      excuse(start, reported: reported, capturedOn: 0, naming: [start]) == "no later snapshot")
    #expect(excuse(cancel, reported: reported) == "a later event implies it")
    #expect(excuse(cancel, reported: [start, cancel]) == nil)
    #expect(excuse(end, reported: reported) == "an earlier event implies it")
    #expect(excuse(end, reported: [start, end]) == nil)
  }
}
