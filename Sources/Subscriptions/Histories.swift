public import Domain

/// The subscriptions in the events of one fold group.
///
/// - Parameters:
///   - events: the counted version of every event of one fold group, in any order. A group is a
///     lineage for Qonversion; for the other providers it is all lineages of one user in one app
///     and environment (for Purple in all apps), or a lineage without user.
///   - rules: as-of and the settings of the run.
/// - Returns: exactly one history for Qonversion; in an order that does not depend on arrival.
/// - Throws: `AmountOverflow` when a derived amount does not fit.
public func histories(of events: [Event], rules: FoldSettings) throws -> [SubscriptionHistory] {
  var found: [SubscriptionHistory] = []
  try forEachHistory(of: events, rules: rules, checkStop: {}) { found.append($0) }
  return found
}

/// Calls `body` with each of these subscriptions, and `checkStop` between and within them.
///
/// A user can have hundreds of thousands: each is in memory only while `body` runs.
public func forEachHistory(
  of events: [Event], rules: FoldSettings, checkStop: () throws -> Void,
  _ body: (SubscriptionHistory) throws -> Void
) throws {
  guard let first = events.first, !first.provider.capabilities.hasStableOriginalID else {
    return try body(SubscriptionHistory(events: events, rules: rules))
  }
  for events in events.byApp(rules) {
    try FoldGroup(events, rules: rules).forEachHistory(checkStop: checkStop, body)
  }
}

extension [Event] {
  /// Whether there are so many events that histories are computed twice, not all kept in memory.
  public var areTooMany: Bool { count > 1 << 12 }

  /// The events that fulfil a condition, evaluated once each in order; no copy if all do.
  func keeping(_ isKept: (Event) -> Bool) -> [Event] {
    guard let first = firstIndex(where: { !isKept($0) }) else { return self }
    return self[..<first] + self[(first + 1)...].filter(isKept)
  }
}

/// The events of one user, or of one purchase without user, from a provider without stable ids.
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
    isChained = counted.contains {
      $0.user != 0 || $0.provider.capabilities.linksRenewals(in: $0.store)
    }
  }

  func forEachHistory(
    checkStop: () throws -> Void, _ body: (SubscriptionHistory) throws -> Void
  ) throws {
    let purchases = events.indices.filter { !events[$0].isCollectionAlone }
    let lineages = Set(purchases.filter { events[$0].isShared }.map { events[$0].lineage })
    // A message about an earlier transaction has no state: it is shared as its subscription is.
    func isShared(_ place: Int) -> Bool {
      let event = events[place]
      return event.isShared || event.observation == nil && lineages.contains(event.lineage)
    }
    let shared = purchases.filter(isShared)
    if !shared.isEmpty {
      try body(history(GroupEvents(events, at: shared), exclusion: .familySharing, checkStop))
    }
    let groups = events.purchaseGroups(
      of: purchases.filter { !isShared($0) }, gap: rules.renewalGap)
    let isHeld = !events.areTooMany || groups.count == 1
    let chains = try groups.map {
      Chain(try history(GroupEvents(events, at: $0), checkStop), isHeld: isHeld)
    }.chained()
    for chain in chains {
      try body(chain.single ?? history(chain.events(of: events), checkStop))
    }
  }

  private func history(
    _ reported: GroupEvents, exclusion: ExclusionReason? = nil, _ checkStop: () throws -> Void
  ) throws -> SubscriptionHistory {
    if events.areTooMany { try checkStop() }
    let history = StateSequence(of: reported.array, collections: collections, rules: rules)
    if events.areTooMany { try checkStop() }
    return try SubscriptionHistory(
      reported: reported, events: history.events, nextDerived: history.next, rules: rules,
      exclusion: exclusion, isChained: isChained)
  }
}

/// The events of one subscription within its fold group, in business order.
///
/// Only the group stores the events: a user can have hundreds of thousands of purchases.
struct GroupEvents: RandomAccessCollection, Sendable {
  private let group: [Event]
  /// Positions in the group, ascending; nil for the whole group.
  private let places: [Int]?

  init(_ group: [Event], at places: [Int]? = nil) {
    (self.group, self.places) = (group, places.flatMap { $0.count < group.count ? $0 : nil })
  }

  var startIndex: Int { 0 }
  var endIndex: Int { places?.count ?? group.count }
  subscript(index: Int) -> Event { group[places?[index] ?? index] }

  var array: [Event] { places.map { $0.map { group[$0] } } ?? group }
  var placesInGroup: [Int] { places ?? Array(group.indices) }
}

/// Purchases that follow each other without overlap: one subscription of the user.
private struct Chain {
  /// The positions of its events in the group.
  private(set) var places: [Int]
  private var isSingle = true
  /// The history while the chain has only one purchase; nil unless kept in memory.
  private(set) var single: SubscriptionHistory?
  /// When the last purchase ends; nil while it is open or has no period.
  private(set) var end: Instant?
  let start: Instant?
  let order: (Int64, Int64)
  let store: Store

  init(_ history: SubscriptionHistory, isHeld: Bool) {
    places = history.reported.placesInGroup
    single = isHeld ? history : nil
    end = history.continuableFrom
    start = history.start
    order = history.place
    store = history.store
  }

  mutating func append(_ next: Chain) {
    places += next.places
    (isSingle, single) = (false, nil)
    end = next.end.flatMap { free in end.map { max($0, free) } }
  }

  func events(of group: [Event]) -> GroupEvents {
    if isSingle { return GroupEvents(group, at: places) }
    return GroupEvents(inBusinessOrder(places.map { group[$0] }))
  }
}

private extension [Chain] {
  /// Chains the purchases by their start.
  func chained() -> [Chain] {
    var chains: [Chain] = []
    var ends: [Store: ChainEnds] = [:]
    for next in sorted(by: { $0.order < $1.order }) {
      var place = chains.count
      if let start = next.start, let free = ends[next.store]?.takeLast(before: start) {
        place = free
        chains[place].append(next)
      } else {
        chains.append(next)
      }
      if let end = chains[place].end { ends[next.store, default: ChainEnds()].add(end, place) }
    }
    return chains
  }
}

/// When the chains of a store end, ordered by time: a user can have hundreds of thousands.
struct ChainEnds {
  private typealias End = (end: Instant, chain: Int)

  /// The chains that have ended, latest end first; for equal ends, the first chain.
  private var over = Heap<End> { $0.end != $1.end ? $0.end > $1.end : $0.chain < $1.chain }
  /// The other chains, next end first.
  private var running = Heap<End> { $0.end < $1.end }

  mutating func add(_ end: Instant, _ chain: Int) { running.add((end, chain)) }

  /// Removes and returns the chain with the latest end at or before `start`, the first of several;
  /// `start` must not decrease between calls.
  mutating func takeLast(before start: Instant) -> Int? {
    while let next = running.first, next.end <= start {
      over.add(next)
      _ = running.removeFirst()
    }
    return over.removeFirst()?.chain
  }
}

extension SubscriptionHistory {
  var start: Instant? { periods.first?.start }

  /// Orders histories by their start; those without a period are last.
  var place: (Int64, Int64) {
    (start?.milliseconds ?? .max, reported.map(\.lineage).min() ?? 0)
  }

  /// The time from which another purchase can continue it; nil while it is open.
  var continuableFrom: Instant? {
    guard periods.allSatisfy({ $0.effectiveEnd != nil }) else { return nil }
    return periods.compactMap(\.continuableFrom).max()
  }
}
