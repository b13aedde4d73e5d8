public import Domain

/// The subscriptions of several fold groups that report the same store transactions, each counted
/// once.
///
/// The first provider in `authority` counts. What others report too is left out; what only they
/// report is added to its subscription. So a subscription continues when one provider ends and
/// another begins.
public struct LinkedHistories: Sendable {
  /// A charge that two providers report: the counted event, the provider of the one left out, and
  /// both gross amounts in US dollars, nil when unknown.
  public typealias Overlap = (
    store: Store, counted: Event, other: Provider, countedUSD: Amount?, otherUSD: Amount?
  )

  /// The counted histories by reporting provider; those of a single provider are unchanged.
  public private(set) var histories: [SubscriptionHistory] = []
  /// The subscriptions as each provider reported them, with what other providers reported.
  public private(set) var own: [SubscriptionHistory]
  /// The charges that more than one provider reports, once for each provider that does not count.
  public private(set) var overlaps: [Overlap] = []
  private var subscriptions: [Subscription] = []
  private var places: [StoreID: Int] = [:]
  /// The subscriptions that a history in `own` reports too.
  private var feeds: [(index: Int, homes: Set<Int>)] = []
  private let originals: [Int64: Int64]

  /// Links the subscriptions of separate fold groups by `originals`: by lineage, the keys of the
  /// store's original transaction ids.
  ///
  /// - Throws: `AmountOverflow` when a derived amount does not fit.
  public init(
    _ own: [SubscriptionHistory], originals: [Int64: Int64], rules: FoldSettings
  ) throws(AmountOverflow) {
    self.originals = originals
    self.own = own
    // A test purchase ranks before providers that do not mark tests.
    let unmarked = rules.authority.firstIndex { !$0.capabilities.marksSandbox } ?? .max
    func rank(_ index: Int) -> (Int, Int, Int64, Int64, Int) {
      let isTest = own[index].exclusion != nil
      let named = rules.authority.firstIndex(of: own[index].reported[0].provider) ?? .max
      let place = own[index].place
      return (isTest ? min(named, unmarked) : named, isTest ? 0 : 1, place.0, place.1, index)
    }
    let counted = own.indices.filter { !own[$0].isEmpty && own[$0].exclusion != .familySharing }
    histories = own.filter { $0.isEmpty || $0.exclusion == .familySharing }
    for index in counted.sorted(by: { rank($0) < rank($1) }) { take(own[index], index) }
    var shared: [SubscriptionHistory] = []
    for subscription in subscriptions {
      let found = try subscription.histories()
      histories += found
      let all = found.last ?? subscription.main
      shared.append(all)
      overlaps += subscription.overlaps(with: all)
      for finding in all.findings where finding.code == .overRefund { add(finding) }
      self.own[subscription.index].reportedByOthers = all.reports(
        notIn: subscription.main, isExpected: true)
    }
    for feed in feeds {
      self.own[feed.index].reportedByOthers = feed.homes.sorted().flatMap {
        shared[$0].reports(notIn: own[feed.index], isExpected: false)
      }
    }
  }

  private struct StoreID: Hashable {
    let store: Store
    let id: Int64
  }

  /// Adds the subscription, or what it reports about known ones.
  private mutating func take(_ history: SubscriptionHistory, _ index: Int) {
    guard history.exclusion == nil, let homes = homes(of: history) else {
      for event in history.reported { place(event, of: history, at: subscriptions.count) }
      subscriptions.append(Subscription(history, index))
      return
    }
    var reading = OtherReport(history)
    for (event, home) in homes.enumerated() {
      reading.read(event, into: &subscriptions[home])
    }
    feeds.append((index, Set(homes)))
    for (event, home) in zip(history.events, homes) { place(event, of: history, at: home) }
    var feed = history
    feed.held = reading.held
    feed.role = .feed(countedElsewhere: reading.countedElsewhere)
    histories.append(feed)
  }

  /// Adds findings that appear only in the refunds of several providers together, to the history
  /// that has the event.
  private mutating func add(_ finding: FoldFinding) {
    let index = own.firstIndex { $0.reported.contains { $0.identity == finding.identity } }
    guard let index else { return }
    let isKnown = own[index].findings.contains {
      $0.code == finding.code && $0.identity == finding.identity
    }
    if !isKnown { own[index].findings.append(finding) }
  }

  private mutating func place(_ event: Event, of history: SubscriptionHistory, at index: Int) {
    for id in [event.transaction, originals[event.lineage] ?? 0] where id != 0 {
      let key = StoreID(store: history.store, id: id)
      places[key] = places[key] ?? index
    }
  }

  /// For each event, the other provider's subscription that it belongs to: by its transaction, else
  /// by its original transaction, else that of the previous event; nil if no event has one.
  private func homes(of history: SubscriptionHistory) -> [Int]? {
    let provider = history.reported[0].provider
    func home(_ id: Int64?) -> Int? {
      guard let id, id != 0, let place = places[StoreID(store: history.store, id: id)],
        subscriptions[place].main.reported[0].provider != provider
      else { return nil }
      return place
    }
    let known = history.events.map { home($0.transaction) ?? home(originals[$0.lineage]) }
    guard var last = known.lazy.compactMap(\.self).first else { return nil }
    return known.map { place in
      last = place ?? last
      return last
    }
  }
}

/// A subscription as the counted provider reports it, and what other providers add.
private struct Subscription {
  let main: SubscriptionHistory
  /// Its index among the subscriptions of all providers.
  let index: Int
  /// How many charges and trial starts of the main provider name each transaction.
  private let opened: [Int64: Int]
  private let refunded: Set<Int64>
  /// Events of other providers, as folded and as reported.
  private(set) var events: [Event] = []
  private(set) var reported: [Event] = []
  /// Charges of other providers that are left out.
  private var left: [(charge: Event, usd: Amount?)] = []

  init(_ main: SubscriptionHistory, _ index: Int) {
    self.main = main
    self.index = index
    opened = main.events.openings
    refunded = Set(main.events.lazy.filter(\.kind.isRefund).map(\.transaction))
  }

  /// Whether the purchase that `event` opens at `start` is already reported: by its transaction or,
  /// if one of both reports has none or uses one id for several charges, by the time.
  func hasOpened(_ event: Event, isUnique: Bool, from start: Instant) -> Bool {
    let others = events.filter { $0.opensPurchase && $0.provider != event.provider }
    let isNamed =
      opened[event.transaction] != nil || others.contains { $0.transaction == event.transaction }
    if isUnique, isNamed { return true }
    let gap = main.rules.renewalGap
    func isNear(_ time: Instant) -> Bool { time - gap <= start && start <= time + gap }
    func mayBe(_ other: Event) -> Bool {
      !isUnique
        || other.product == event.product
          && (other.transaction == 0 || opened[other.transaction, default: 0] > 1)
    }
    return others.contains { isNear($0.time) && mayBe($0) }
      || main.periods.contains { period in
        period.start - gap <= start && period.end.map { start + gap < $0 } ?? true
          && mayBe(main.events[period.opener])
      }
      || main.bookings.contains { booking in
        !booking.isRefund && booking.product == event.product && isNear(booking.time)
          && mayBe(main.events[booking.event])
      }
  }

  func hasRefunded(_ event: Event) -> Bool {
    refunded.contains(event.transaction)
      || events.contains { $0.kind.isRefund && $0.transaction == event.transaction }
  }

  /// Whether the main provider reported auto-renew in the period at the time of `event`.
  func hasSwitched(at event: Event) -> Bool {
    guard let period = main.periods.last(where: { $0.start <= event.time }) else { return true }
    return period.ownEvents.contains { main.events[$0].switchesAutoRenew }
  }

  /// Adds an event that only another provider reports, and the events it was derived from.
  mutating func add(_ event: Event, from history: SubscriptionHistory) {
    events.append(event)
    guard !reported.contains(where: { $0.identity == event.identity }) else { return }
    reported += history.reported.filter { $0.identity == event.identity }
  }

  /// Leaves out a charge that is already reported, and returns the main provider's charge.
  mutating func leaveOut(_ charge: Event, _ usd: Amount?, isUnique: Bool) -> Event? {
    if isUnique { left.append((charge, usd)) }
    return main.events.first { $0.transaction == charge.transaction && $0.chargeKind != nil }
  }

  /// The charges left out, with the charges of the same transactions in `counted`.
  func overlaps(with counted: SubscriptionHistory) -> [LinkedHistories.Overlap] {
    left.compactMap { charge, usd in
      let booking = counted.bookings.first {
        !$0.isRefund && $0.transaction == charge.transaction
      }
      guard let booking else { return nil }
      // A test purchase counts with no money.
      let countedUSD = counted.exclusion == nil ? booking.money.grossUSD : .zero
      return (counted.store, counted.events[booking.event], charge.provider, countedUSD, usd)
    }
  }

  /// The counted histories: the main provider's, with the events that only others report.
  func histories() throws(AmountOverflow) -> [SubscriptionHistory] {
    guard !events.isEmpty else { return [main] }
    let charges = main.held.filter { $0.reason == .doubleCharge }.map(\.event)
    var shared = try SubscriptionHistory(
      reported: GroupEvents((main.reported + reported).inOrder),
      events: (main.events + charges + events).inOrder.withRenewals(main.rules)
        .withConversions(main.rules),
      nextDerived: nil, rules: main.rules, exclusion: nil, isChained: main.isChained)
    shared.role = .shared
    var feed = main
    feed.held = []
    feed.role = .feed(countedElsewhere: Set(main.reported.map(\.identity)))
    return [feed, shared]
  }
}

private extension [Event] {
  /// How many charges and trial starts name each transaction.
  var openings: [Int64: Int] {
    lazy.filter(\.opensPurchase).reduce(into: [:]) { $0[$1.transaction, default: 0] += 1 }
  }
}

/// Reads a history of a provider that does not count, event by event.
private struct OtherReport {
  let history: SubscriptionHistory
  private(set) var held: [HeldEvent] = []
  /// Identities of the events that are counted in the other provider's subscription.
  private(set) var countedElsewhere: Set<Int64> = []
  private let uses: [Int64: Int]
  private let starts: [Int: Instant]
  /// Transactions that only this provider opened.
  private var added: Set<Int64> = []
  /// Transactions that only this provider refunded, perhaps in several parts.
  private var refunded: Set<Int64> = []
  /// Whether only this provider reports the current period.
  private var isAdding = false

  init(_ history: SubscriptionHistory) {
    self.history = history
    uses = history.events.openings
    starts = Dictionary(
      history.periods.map { ($0.opener, $0.start) }, uniquingKeysWith: { first, _ in first })
  }

  /// Counts the event as part of `subscription`, or leaves it out.
  mutating func read(_ index: Int, into subscription: inout Subscription) {
    let event = history.events[index]
    // Not every provider marks test purchases.
    let isTest = subscription.main.exclusion != nil
    if event.opensPurchase { open(index, of: &subscription, isTest: isTest) }
    guard !isTest, isNew(event, in: subscription) else { return }
    if event.kind.isRefund { refunded.insert(event.transaction) }
    countedElsewhere.insert(event.identity)
    subscription.add(event, from: history)
  }

  /// Reads a charge or trial start; one that is already reported is left out.
  private mutating func open(_ index: Int, of subscription: inout Subscription, isTest: Bool) {
    let event = history.events[index]
    let isUnique = event.transaction != 0 && uses[event.transaction] == 1
    let start = starts[index] ?? event.time
    isAdding = !isTest && !subscription.hasOpened(event, isUnique: isUnique, from: start)
    if isAdding { added.insert(event.transaction) }
    guard !isAdding, event.chargeKind != nil,
      let booking = history.bookings.first(where: { $0.event == index })
    else { return }
    let counted = subscription.leaveOut(event, booking.money.grossUSD, isUnique: isUnique)
    held.append(HeldEvent(event: event, reason: .overlap, booked: counted ?? event))
  }

  /// Whether only this provider reports the event.
  private func isNew(_ event: Event, in subscription: Subscription) -> Bool {
    if event.opensPurchase { return isAdding }
    if event.kind.isRefund {
      return refunded.contains(event.transaction) || !subscription.hasRefunded(event)
    }
    if event.switchesAutoRenew, !subscription.hasSwitched(at: event) { return true }
    let isNamed = event.transaction != 0 && uses[event.transaction] != nil
    return isNamed ? added.contains(event.transaction) : isAdding
  }
}
