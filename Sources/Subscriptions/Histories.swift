public import Domain

/// The subscriptions in the events of one fold group.
///
/// - Parameters:
///   - events: the counted version of every event of one fold group, in any order: for Qonversion
///     a lineage, for the other providers all lineages of one user in one app and environment (of
///     Purple in all apps), or a lineage without user.
///   - rules: as-of and the settings of the run.
/// - Returns: exactly one history for Qonversion; in an order that does not depend on arrival.
/// - Throws: `AmountOverflow` when a derived amount does not fit.
public func histories(of events: [Event], rules: FoldSettings) throws(AmountOverflow)
  -> [SubscriptionHistory]
{
  guard let first = events.first, !first.provider.capabilities.hasStableOriginalID else {
    return [try SubscriptionHistory(events: events, rules: rules)]
  }
  var found: [SubscriptionHistory] = []
  for events in events.byApp(rules) { found += try FoldGroup(events, rules: rules).histories() }
  return found
}

/// The events of one user, or of one purchase without user, of a provider without stable ids.
private struct FoldGroup {
  let rules: FoldSettings
  /// Counted events in business order.
  let events: [Event]
  let collections: Collections
  let isChained: Bool

  init(_ all: [Event], rules: FoldSettings) {
    self.rules = rules
    let counted = inBusinessOrder(all, before: rules.asOf)
    events = counted.withLastOfEachMessage.withChargesReportedOnce.withStoresOfTheirProducts
    collections = Collections(events)
    isChained = all.contains {
      $0.user != 0 || $0.provider.capabilities.linksRenewals(in: $0.store)
    }
  }

  func histories() throws(AmountOverflow) -> [SubscriptionHistory] {
    let purchases = events.indices.filter { !events[$0].isCollectionAlone }
    let shared = purchases.filter { events[$0].isShared }
    var histories: [SubscriptionHistory] = []
    if !shared.isEmpty {
      histories.append(try history(GroupEvents(events, at: shared), exclusion: .familySharing))
    }
    var chains: [Chain] = []
    var ends: [Store: ChainEnds] = [:]
    for thread in try threads(purchases.filter { !events[$0].isShared }) {
      var place = chains.count
      if let start = thread.start, let free = ends[thread.store]?.takeLast(before: start) {
        place = free
        chains[place].append(thread)
      } else {
        chains.append(Chain(thread))
      }
      if let end = chains[place].end { ends[thread.store, default: ChainEnds()].add(end, place) }
    }
    for chain in chains {
      if let single = chain.single {
        histories.append(single)
      } else {
        histories.append(
          try history(GroupEvents(chain.places.map { events[$0] }.inOrder), exclusion: nil))
      }
    }
    return histories
  }

  /// The threads folded one by one, by their start.
  private func threads(_ purchases: [Int]) throws(AmountOverflow) -> [SubscriptionHistory] {
    var folded: [SubscriptionHistory] = []
    for thread in events.threads(of: purchases) {
      folded.append(try history(GroupEvents(events, at: thread), exclusion: nil))
    }
    folded.sort { $0.place < $1.place }
    return folded
  }

  private func history(
    _ reported: GroupEvents, exclusion: ExclusionReason?
  ) throws(AmountOverflow) -> SubscriptionHistory {
    let history = StateSequence(of: reported.array, collections: collections, rules: rules)
    return try SubscriptionHistory(
      reported: reported, events: history.events, nextDerived: history.next, rules: rules,
      exclusion: exclusion, isChained: isChained)
  }
}

/// Threads that follow each other without overlap: one subscription of the user.
private struct Chain {
  /// Of its events in the group.
  private(set) var places: [Int]
  /// The history, while it has one thread only.
  private(set) var single: SubscriptionHistory?
  /// When the last thread ends; nil while it is open, or has no period.
  private(set) var end: Instant?
  let store: Store

  init(_ history: SubscriptionHistory) {
    places = history.reported.placesInGroup
    single = history
    end = history.freeFrom
    store = history.store
  }

  mutating func append(_ history: SubscriptionHistory) {
    places += history.reported.placesInGroup
    single = nil
    end = history.freeFrom.flatMap { free in end.map { max($0, free) } }
  }
}

/// When the chains of one store end that are over at some time: a user can have hundreds of
/// thousands.
struct ChainEnds {
  private typealias End = (end: Instant, chain: Int)

  /// Those that ended, the last one first; of several, the first chain.
  private var over = Heap<End> { $0.end != $1.end ? $0.end > $1.end : $0.chain < $1.chain }
  /// The others, the next one first.
  private var running = Heap<End> { $0.end < $1.end }

  mutating func add(_ end: Instant, _ chain: Int) { running.add((end, chain)) }

  /// Takes out the chain with the latest end at or before `start`, the first of several; later
  /// calls have no earlier start.
  mutating func takeLast(before start: Instant) -> Int? {
    while let next = running.first, next.end <= start {
      over.add(next)
      _ = running.removeFirst()
    }
    return over.removeFirst()?.chain
  }
}

extension [Event] {
  /// The events that fulfil a condition, which is asked once of each in order; where all do, they
  /// are not copied.
  func keeping(_ isKept: (Event) -> Bool) -> [Event] {
    guard let first = firstIndex(where: { !isKept($0) }) else { return self }
    return self[..<first] + self[(first + 1)...].filter(isKept)
  }

  var inOrder: [Event] {
    guard let last = self.map(\.time).max() else { return self }
    return inBusinessOrder(self, before: last + Interval(milliseconds: 1))
  }
}

extension SubscriptionHistory {
  var start: Instant? { periods.first?.start }

  /// Orders histories by their start, the ones without a period last.
  var place: (Int64, Int64) {
    (start?.milliseconds ?? .max, reported.map(\.lineage).min() ?? 0)
  }

  /// From when on another purchase can continue it; nil while it is open.
  ///
  /// A purchase that another replaced gives way before its message arrives. Of a thread that holds
  /// both, as an upgrade under one original id does, the one that opened its last period decides.
  var freeFrom: Instant? {
    guard let latest = periods.last, periods.allSatisfy({ $0.effectiveEnd != nil }) else {
      return nil
    }
    guard let end = periods.compactMap(\.freeFrom).max() else { return nil }
    guard reported.contains(where: { $0.observation?.isReplaced == true }) else { return end }
    let holder = events[latest.opener]
    let seen = reported.filter { event in
      event.observation != nil && event.product == holder.product
        && (event.transaction == holder.transaction || event.transaction == 0
          || holder.transaction == 0)
    }
    guard let last = seen.last, last.observation?.isReplaced == true else { return end }
    let replaced = seen.first {
      $0.observation?.isReplaced == true && $0.transaction == last.transaction
    }
    let ended = replaced.map { Swift.min($0.time, $0.periodEnd ?? $0.time) } ?? end
    return Swift.min(end, ended) - rules.renewalGap
  }
}
