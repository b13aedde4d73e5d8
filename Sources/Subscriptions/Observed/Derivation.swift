import Domain

/// How much longer than the previous period a period may be: months differ by up to three days.
let monthsDiffer = Interval.days(4)

/// Compares the observations of a subscription and derives the events between them.
struct Derivation {
  let collections: Collections
  let rules: FoldSettings
  private let purchases: [Purchase]
  /// In business order.
  private let all: [Event]
  /// The reported events without observations, by lineage, as positions in `all`.
  private let reported: [Int64: [Int]]
  /// The newest purchase of each lineage, as a position in `purchases`.
  private var newest: [Int64: Int] = [:]
  private let successors: [Successors]
  /// The last subscription purchase that was read.
  private var previous: StateChanges?
  /// The events after its charge; they count until the next charge.
  private var afterwards: [Event] = []
  private var seenLineages: Set<Int64> = []
  private var events: [Event] = []

  init(reported all: [Event], collections: Collections, rules: FoldSettings) {
    self.all = all
    reported = Dictionary(grouping: all.indices.filter { all[$0].kind != .observed }) {
      all[$0].lineage
    }
    self.collections = collections
    self.rules = rules
    purchases = Purchase.all(in: all, rules: rules)
    successors = purchases.successors
    for (place, purchase) in purchases.enumerated() {
      newest[purchase.stateReports[0].lineage] = place
    }
  }

  /// The derived events, unordered.
  consuming func run() -> [Event] {
    events.reserveCapacity(purchases.count)
    for (place, purchase) in purchases.enumerated() {
      guard let opening = opening(of: purchase) else { continue }
      if purchase.reported == nil { events.append(opening) }
      seenLineages.insert(opening.lineage)
      guard !purchase.isOneTime else { continue }
      events += afterwards.filter { $0.precedes(opening) }
      var changes = StateChanges(
        of: purchase, opening: opening, before: successors[place], rules: rules,
        reported: (reported[opening.lineage] ?? []).lazy.map { [all] in all[$0] })
      let isNewest = newest[opening.lineage] == place
      let later = isNewest ? disappearance(changes) : nil
      afterwards = changes.events + [later].compactMap(\.self)
      changes.vanishedAt = later?.time
      previous = changes
    }
    events += afterwards
    return events
  }

  /// The charge or trial start of a purchase; nil before any payment.
  private func opening(of purchase: Purchase) -> Event? {
    if let reported = purchase.reported { return reported }
    guard var event = purchase.first else { return nil }
    let time = afterLapse(event, chargedAt: chargeTime(of: purchase, event))
    event.kind = kind(of: purchase, event, at: time)
    event.time = time
    event.periodStart = time
    if purchase.isOneTime { event.periodEnd = nil }
    event.startsLineage = event.kind == .started || event.kind == .purchased
    event.revenue = purchase.revenue
    if event.kind.isProductChange {
      event.previousProduct = previous?.opening.product ?? 0
      event.revenue = event.revenue ?? Revenue()
    }
    if event.kind == .trialStarted { event.revenue = nil }
    event.reason = nil
    event.graceEnd = nil
    event.price = nil
    return event
  }

  /// When a purchase was charged: as sent, else when it was first made, else when it was seen.
  ///
  /// FLOBUK's body is the message about this charge. Other providers' bodies can be about something
  /// else: if a purchase is seen soon after the previous period ended, it was charged at that end.
  /// A body without a date shows only its earliest possible time, which can be that of the first
  /// purchase: such a purchase was seen when it was received.
  private func chargeTime(of purchase: Purchase, _ event: Event) -> Instant {
    let state = event.observation
    if let charged = state?.lastChargedAt { return charged }
    if let bought = state?.firstPurchasedAt, purchase.isOneTime || isFirst(event, since: bought) {
      return bought
    }
    let seen = event.seenAt
    let isSeenRunning = event.periodEnd.map { seen < $0 } ?? true
    guard event.transaction != 0, isSeenRunning else { return undatedChargeTime(event) }
    guard let previous, let end = previous.end, seen >= end else {
      let isOnlySource = previous?.end == nil && rules.periodLength(of: event) == nil
      return event.isDated || isOnlySource ? seen : undatedChargeTime(event)
    }
    guard seen <= end + rules.renewalGap else {
      return chargeTime(seenLate: event, after: previous, until: end)
    }
    return event.provider.capabilities.body == .purchase ? seen : end
  }

  /// The charge time of a purchase first seen after the previous one lapsed, or late in a renewal.
  ///
  /// It follows from the purchase's length. Without a configured or listed length, it is the time
  /// of FLOBUK's body, which is the message about this charge unless the state has changed since;
  /// else it follows from the previous length. A body without a date can be a copy of one that
  /// arrived in time.
  private func chargeTime(
    seenLate event: Event, after previous: StateChanges, until end: Instant
  ) -> Instant {
    let seen = event.seenAt
    let isMessage =
      event.provider.capabilities.body == .purchase && event.observation?.isAutoRenewing != false
      && event.observation?.isInBillingRetry != true
    let known = rules.periodLength(of: event)
    guard let next = event.periodEnd,
      let length = known ?? (isMessage ? nil : previous.length(of: event.product))
    else { return isMessage || !previous.renewsAtEnd ? seen : end }
    let start = length.start(before: next)
    let latest = (event.isDated ? end : end + monthsDiffer) + rules.renewalGap
    if start <= latest, previous.renewsAtEnd { return end }
    // A trial, which FLOBUK does not mark, is shorter than its product's period.
    if isMessage, start + monthsDiffer < end { return seen }
    return start + monthsDiffer < seen ? start : seen
  }

  /// When a purchase was charged that no dated body showed while it ran: its end minus its
  /// product's period, else the end of the previous period.
  ///
  /// If it was bought again before that period ended, it was charged before that end, as its own
  /// length or the time of its receipt shows. The same applies if it ended no later than that
  /// period, or is another product that ran well before that end. A trial does not have its
  /// product's length.
  private func undatedChargeTime(_ event: Event) -> Instant {
    let soonest = previous?.end
    guard let end = event.periodEnd, event.observation?.isTrial != true,
      let length = rules.periodLength(of: event)
    else {
      let time = min(soonest ?? event.time, event.periodEnd ?? event.time)
      guard let received = event.received, received + rules.renewalGap < time else { return time }
      return max(received, event.time)
    }
    let start = length.start(before: end)
    guard let soonest, end > soonest else {
      // A revoked purchase ended early: it was made after the one that it followed.
      let dates = [previous?.opening.time, event.observation?.firstPurchasedAt].compactMap(\.self)
      let earliest = dates.max() ?? start
      return earliest < end ? max(start, earliest) : start
    }
    let ranBefore =
      event.product != previous?.opening.product
      && event.received.map { $0 + rules.renewalGap < soonest } ?? false
    let margin = ranBefore ? .seconds(0) : monthsDiffer
    let isAnew = start + margin < soonest && event.time < soonest
    return !isAnew && start <= soonest + rules.renewalGap ? soonest : start
  }

  /// `time`; but if neither a date nor a length determines it and access was seen to be gone since,
  /// the time when the purchase was seen, or when access was last seen to be gone.
  private func afterLapse(_ event: Event, chargedAt time: Instant) -> Instant {
    guard event.observation?.lastChargedAt == nil, rules.periodLength(of: event) == nil,
      let previous, let ended = previous.end, let gone = previous.seenGoneAt, time < gone,
      gone > ended + rules.renewalGap, gone < event.seenAt, let end = event.periodEnd, gone < end
    else { return time }
    return event.seenAt < end ? event.seenAt : gone
  }

  /// Whether a purchase made at `bought` can still be in its first period.
  ///
  /// A transaction with the subscription's own id is the first, whatever its end is. Without ids, a
  /// purchase in grace can end later than its period, but not by another period.
  private func isFirst(_ event: Event, since bought: Instant) -> Bool {
    guard event.startsLineage, !seenLineages.contains(event.lineage) else { return false }
    if let charged = event.observation?.lastChargedAt { return charged <= bought + .days(1) }
    if event.transaction != 0, event.store.startsWithOriginal { return true }
    guard let end = event.periodEnd, let length = rules.periodLength(of: event),
      event.observation?.isTrial != true
    else { return true }
    let firstEnd = length.end(from: bought)
    return end <= firstEnd + rules.renewalGap || event.isFailing && end < length.end(from: firstEnd)
  }

  private func kind(of purchase: Purchase, _ event: Event, at time: Instant) -> EventKind {
    if purchase.isOneTime { return .purchased }
    if purchase.isTrial { return .trialStarted }
    guard let previous else {
      let bought = event.observation?.firstPurchasedAt ?? time
      return isFirst(event, since: bought) ? .started : .renewed
    }
    let follows = previous.end.map { time <= $0 + rules.renewalGap } ?? true
    let continues =
      !previous.isRevoked(at: time)
      && (follows || previous.isCollected(at: time, within: rules.retryHorizon))
    if previous.isTrial { return continues ? .trialConverted : .started }
    guard continues else { return .resubscribed }
    if previous.opening.product == event.product { return .renewed }
    return follows ? .productChanged : .resubscribed
  }

  /// The revocation of a lineage's newest purchase, which a later collection lacks before its end.
  private func disappearance(_ changes: StateChanges) -> Event? {
    var event = changes.opening
    guard !changes.isEndKnown, let vanished = collections.disappearance(of: event),
      let end = changes.end, vanished.time < end, vanished.time >= event.time
    else { return nil }
    event.kind = .revoked
    event.time = vanished.time
    event.identity = vanished.identity
    event.place = vanished.place
    event.received = vanished.received
    event.revenue = nil
    event.reason = nil
    return event
  }
}

extension StateChanges {
  /// The length of the purchase; nil for a trial and for another product.
  func length(of product: StringID) -> PeriodLength? {
    guard let end, !isTrial, product == opening.product, opening.time < end else { return nil }
    return PeriodLength(from: opening.time, to: end)
  }

  func isRevoked(at time: Instant) -> Bool {
    (vanishedAt ?? revokedAt).map { $0 < time } ?? false
  }

  /// Whether a charge at `time` is the one that the store was trying to collect.
  func isCollected(at time: Instant, within horizon: Interval) -> Bool {
    guard isCollecting, let end, time <= end + horizon else { return false }
    return gaveUpAt.map { time < $0 } ?? true
  }
}

extension Event {
  var isDated: Bool { observation?.isTimeInferred != true }

  /// Whether the event is about the time before `opening`, or is an expiry at that moment.
  func precedes(_ opening: Event) -> Bool {
    let expires = kind == .expired || kind == .trialExpired
    return time < opening.time || (time == opening.time && expires)
  }
}
