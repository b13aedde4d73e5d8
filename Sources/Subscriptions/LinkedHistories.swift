public import Domain

/// The subscriptions of several fold groups that report the same store transactions, each once.
///
/// The first provider in `authority` that links renewals to their subscription counts. What others
/// report too is left out; what only they report is added to its subscription. So a subscription
/// continues when one provider ends and another begins.
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
  private var subscriptions: [LinkedSubscription] = []
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
      // A renewal that nothing links to its subscription cannot continue that of a provider.
      let isAlone = !own[index].isChained && own[index].bookings.contains { $0.isOfSubscription }
      let authority = isAlone && !isTest ? nil : rules.authority
      let named = authority?.firstIndex(of: own[index].reported[0].provider) ?? .max
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
      self.own[subscription.index].followedElsewhere = all.continuation(after: subscription.main)
    }
    for feed in feeds {
      self.own[feed.index].reportedByOthers = feed.homes.sorted().flatMap {
        shared[$0].reports(notIn: own[feed.index], isExpected: false)
      }
      // What continues where it counts is not missing here.
      let isFollowed = feed.homes.contains {
        shared[$0].continuation(after: own[feed.index]) != nil
      }
      self.own[feed.index].followedElsewhere = isFollowed ? .end : nil
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
      let original = history.events.first.flatMap { originals[$0.lineage] }
      subscriptions.append(LinkedSubscription(history, index, original: original))
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

  /// Adds findings that only the refunds of several providers together show, beside their event.
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

  /// For each event, the other provider's subscription that it belongs to, or the own provider's to
  /// which another one adds it: by its transaction, else by its original transaction, else that of
  /// the previous event; nil if no event has one.
  private func homes(of history: SubscriptionHistory) -> [Int]? {
    let provider = history.reported[0].provider
    func home(_ id: Int64?) -> Int? {
      guard let id, id != 0, let place = places[StoreID(store: history.store, id: id)],
        subscriptions[place].main.reported[0].provider != provider
          || subscriptions[place].events.contains(where: {
            $0.transaction == id && $0.provider != provider
          })
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
  mutating func read(_ index: Int, into subscription: inout LinkedSubscription) {
    var event = history.events[index]
    // Not every provider marks test purchases.
    let isTest = subscription.main.exclusion != nil
    if event.opensPurchase { open(index, of: &subscription, isTest: isTest) }
    guard !isTest, isNew(event, in: subscription) else { return }
    if event.kind.isRefund {
      refunded.insert(event.transaction)
      // The refund of the whole charge gives back what the counted provider reported for it.
      if history.bookings.contains(where: { $0.event == index && $0.isWhole }),
        let charge = subscription.charge(of: event.transaction)
      {
        event.revenue = history.rules.paid(for: charge)
      }
    }
    countedElsewhere.insert(event.identity)
    subscription.add(event, from: history)
  }

  /// Reads a charge or trial start; one that is already reported is left out.
  private mutating func open(
    _ index: Int, of subscription: inout LinkedSubscription, isTest: Bool
  ) {
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
  private func isNew(_ event: Event, in subscription: LinkedSubscription) -> Bool {
    if event.opensPurchase { return isAdding }
    if event.kind.isRefund {
      return refunded.contains(event.transaction) || !subscription.hasRefunded(event)
    }
    let isOfPeriod =
      event.switchesAutoRenew || event.isBillingProblem || event.isEnd
      || [.paused, .resumed, .extended].contains(event.kind)
    if isOfPeriod, !subscription.hasReported(event) { return true }
    // The counted provider can report the failed payment of a charge that it lost.
    if event.isBillingProblem, subscription.hasFailed(event.transaction) { return false }
    let isNamed = event.transaction != 0 && uses[event.transaction] != nil
    return isNamed ? added.contains(event.transaction) : isAdding
  }
}
