import Domain

/// One paid period, trial or one-time purchase, with all reports of its state.
struct Purchase {
  /// All events of the subscription.
  private let events: [Event]
  /// The positions of its state reports in `events`: a user can have hundreds of thousands.
  private var places: [Int]
  private var reportedPlace: Int?

  private init(_ events: [Event], at place: Int) {
    self.events = events
    places = [place]
    reportedPlace = events[place].opensPurchase ? place : nil
  }

  /// Its reported events and observations with a state, in business order; without any state, only
  /// the reported event.
  var stateReports: LazyMapSequence<[Int], Event> { places.lazy.map { [events] in events[$0] } }

  /// The reported event that charges for it or starts its trial.
  var reported: Event? { reportedPlace.map { events[$0] } }

  /// The state report that a derived charge is based on: the first that is not pending, if possible
  /// with an end that is not cut short.
  var first: Event? {
    let paid = stateReports.filter { $0.observation?.isPending != true }
    return paid.first { !$0.canBeCutShort } ?? paid.first
  }

  var isOneTime: Bool {
    if let reported { return reported.kind == .purchased }
    guard let first else { return false }
    return (first.observation?.productType ?? (first.periodEnd == nil ? .oneTime : .subscription))
      == .oneTime
  }

  var isTrial: Bool {
    reported.map { $0.kind == .trialStarted } ?? (first?.observation?.isTrial == true)
  }

  /// Its amount, from the first state report with an amount, else from the first with a currency.
  ///
  /// If a reported event moves no money, the amounts of its state are a price.
  var revenue: Revenue? {
    let reported = stateReports.lazy.compactMap { event -> Revenue? in
      if let revenue = event.revenue { return revenue }
      guard let price = event.price, event.observation?.isTrial != true else { return nil }
      return Revenue(local: price.local, usd: price.usd, currency: price.currency, isProceed: false)
    }
    return reported.first(where: \.hasAmount) ?? reported.first
  }

  /// Its order among the purchases: the charge time, as far as a single state report shows it.
  ///
  /// Bodies without transaction ids or dates show only when they were received and the order of
  /// ends, including ends that were cut short. A transaction that was over when first seen was
  /// charged before its end.
  var place: (Instant, Instant, Instant, Int64) {
    let event = reported ?? first ?? stateReports[0]
    let cut = stateReports.filter(\.canBeCutShort).compactMap(\.periodEnd).min()
    let end = [cut, event.periodEnd].compactMap(\.self).min()
    let last = end ?? event.time
    let shown = event.isDated ? event.transaction == 0 ? last : event.time : event.received ?? last
    let seen = min(shown, last)
    let moment = reported?.time ?? event.observation?.lastChargedAt ?? seen
    return (moment, end ?? moment, event.seenAt, event.identity)
  }

  /// The purchases in `events`, which are in business order.
  ///
  /// A purchase is a transaction. If the provider sends no transaction ids, it is an end: bodies of
  /// iaptic's first years show a renewal only by a later `expirationDate`. Exceptions: a shift of
  /// no more than the renewal gap, or a state without end, is no renewal; in billing retry, a later
  /// end is the grace of the same purchase; for a replaced or revoked purchase, an earlier end is
  /// its end cut short.
  static func all(in events: [Event], rules: FoldSettings) -> [Purchase] {
    var purchases: [Purchase] = []
    var index = PurchaseIndex(rules: rules)
    func add(_ place: Int) -> Int {
      let event = events[place]
      let known = index.purchase(of: event) ?? purchases.count
      index.add(event, known)
      if known == purchases.count {
        purchases.append(Purchase(events, at: place))
      } else {
        purchases[known].places.append(place)
        if event.opensPurchase {
          purchases[known].reportedPlace = purchases[known].reportedPlace ?? place
        }
      }
      return known
    }
    let seen = events.asSeen(
      events.indices.lazy.filter { events[$0].observation != nil || events[$0].opensPurchase })
    for place in seen where !events[place].canBeGrace && !events[place].canBeCutShort {
      _ = add(place)
    }
    // Moved and cut ends are known only once all other ends are.
    for isMoved in [\Event.canBeGrace, \.canBeCutShort] {
      let moved = seen.filter { events[$0][keyPath: isMoved] }
      if !moved.isEmpty { index.order(purchases) }
      for purchase in Set(moved.map(add)) {
        purchases[purchase].places = events.asSeen(purchases[purchase].places)
      }
    }
    return purchases.map { (place: $0.place, purchase: $0) }.sorted { $0.place < $1.place }
      .map(\.purchase)
  }
}

/// Finds the earlier purchase that an event is about.
private struct PurchaseIndex {
  /// One-time purchases are also by product, because one transaction can buy several; the product
  /// of a subscription can change.
  private var byTransaction: [OfLineage<ChargeKey>: Int] = [:]
  private var byEnd: [OfLineage<Instant?>: Int] = [:]
  /// The last purchase of each lineage that was seen in billing retry without a transaction.
  private var failing: [Int64: Int] = [:]
  private var named: Set<Int> = []
  /// The last purchase of each product that only an end shows, and that end, if it was ever sent.
  private var shownByEnd: [OfLineage<StringID>: (purchase: Int, end: Instant?)] = [:]
  /// Paid periods of purchases in stores without an id per charge.
  private var paid: [Int: (from: Instant, until: Instant)] = [:]
  /// The ends of each product's purchases, ascending, and when first seen; empty before `order`.
  private var ends: [OfLineage<StringID>: [(end: Instant, purchase: Int, seen: Instant)]] = [:]
  private let rules: FoldSettings

  init(rules: FoldSettings) { self.rules = rules }

  func purchase(of event: Event) -> Int? {
    let sameEnd = byEnd[OfLineage(event, event.periodEnd)]
    guard event.transaction == 0 else {
      let known =
        byTransaction[OfLineage(event, ChargeKey(event.transaction))]
        ?? byTransaction[OfLineage(event, ChargeKey(event.transaction, of: event.product))]
      if let known { return isChargedAnew(event, since: known) ? nil : known }
      return sameEnd.flatMap { named.contains($0) ? nil : $0 }
    }
    if let known = purchaseShown(by: event) ?? sameEnd { return known }
    if event.canBeCutShort, let cut = purchaseCut(by: event) { return cut }
    if event.canBeGrace { return purchaseProlonged(by: event) ?? failing[event.lineage] }
    return nil
  }

  /// The last purchase of the product, if the event shows its end moved by no more than the renewal
  /// gap, or is a state and there is no end to compare; not in the sandbox, whose periods last
  /// minutes.
  private func purchaseShown(by event: Event) -> Int? {
    guard event.isShownByEnd, let known = shownByEnd[OfLineage(event, event.product)] else {
      return nil
    }
    guard let end = event.periodEnd, let shown = known.end else {
      return event.opensPurchase ? nil : known.purchase
    }
    return end.isWithin(rules.renewalGap, of: shown) ? known.purchase : nil
  }

  /// The purchase of which the end that is shown can be the grace: the last one that ended before
  /// it, if possible of those that were seen by then.
  private func purchaseProlonged(by event: Event) -> Int? {
    guard let known = ends[OfLineage(event, event.product)] else { return nil }
    let next = known.indices.partitioningIndex { known[$0].end > event.periodEnd ?? event.time }
    let ended = known[..<next].suffix(4)
    return (ended.last { $0.seen <= event.seenAt } ?? ended.last)?.purchase
  }

  /// Whether the event is about a later charge than that of `purchase`, under the same id.
  ///
  /// Apple and Play have an id for each charge; other stores can send the subscription's id
  /// instead. There, a later date shows the next charge, or an end that is later by most of a
  /// period: a smaller shift is an extension. A pending purchase is not paid yet.
  private func isChargedAnew(_ event: Event, since purchase: Int) -> Bool {
    guard let paid = paid[purchase], let state = event.observation else { return false }
    if let charged = state.lastChargedAt { return charged > paid.from + rules.renewalGap }
    guard state.isOwned != false, state.isInBillingRetry != true, state.isTrial != true,
      !event.isBillingProblem, event.kind != .extended, let end = event.periodEnd
    else { return false }
    let length = rules.periodLength(of: event) ?? PeriodLength(from: paid.from, to: paid.until)
    let next = length.end(from: paid.until)
    return end.since(paid.until).milliseconds * 2 > next.since(paid.until).milliseconds
  }

  /// The purchase whose period was to end next after the shown end; unless another product replaced
  /// it, only if it was already running then.
  private func purchaseCut(by event: Event) -> Int? {
    guard let end = event.periodEnd, let known = ends[OfLineage(event, event.product)]
    else { return nil }
    let next = known.indices.partitioningIndex { known[$0].end > end }
    guard next < known.count else { return nil }
    let isRunning =
      rules.periodLength(of: event).map { $0.start(before: known[next].end) < end }
      ?? (known[next].seen < event.seenAt)
    return isRunning || event.observation?.isReplaced == true ? known[next].purchase : nil
  }

  /// Sorts the ends of `purchases`.
  mutating func order(_ purchases: [Purchase]) {
    ends = [:]
    for (place, purchase) in purchases.enumerated() {
      guard let first = purchase.stateReports.first, let end = first.periodEnd else { continue }
      ends[OfLineage(first, first.product), default: []].append((end, place, first.seenAt))
    }
    ends = ends.mapValues { $0.sorted { ($0.end, $0.purchase) < ($1.end, $1.purchase) } }
  }

  mutating func add(_ event: Event, _ purchase: Int) {
    if event.transaction != 0 {
      let charge = ChargeKey(event.transaction, of: event.isSale ? event.product : 0)
      let previous = byTransaction.updateValue(purchase, forKey: OfLineage(event, charge))
      named.insert(purchase)
      notePaid(event, purchase, after: previous)
    }
    byEnd[OfLineage(event, event.periodEnd)] = purchase
    if event.isShownByEnd {
      let product = OfLineage(event, event.product)
      shownByEnd[product] = (purchase, event.periodEnd ?? shownByEnd[product]?.end)
    }
    if event.canBeGrace { failing[event.lineage] = purchase }
  }

  /// Notes the paid time, which starts no earlier than the end of `previous`, because a state
  /// without a date can be as old as the first purchase.
  private mutating func notePaid(_ event: Event, _ purchase: Int, after previous: Int?) {
    guard !event.store.startsWithOriginal, let end = event.periodEnd else { return }
    guard let known = paid[purchase] else {
      let over = previous.flatMap { paid[$0]?.until } ?? event.time
      paid[purchase] = (event.observation?.lastChargedAt ?? max(event.time, over), end)
      return
    }
    guard event.observation?.isInBillingRetry != true else { return }
    paid[purchase] = (known.from, max(known.until, end))
  }
}

/// A transaction, product or end in the events of one lineage.
struct OfLineage<Value: Hashable>: Hashable {
  let lineage: Int64
  let value: Value

  init(_ event: Event, _ value: Value) { (lineage, self.value) = (event.lineage, value) }
}

extension Event {
  /// Whether it reports or shows a one-time purchase.
  var isSale: Bool { kind == .purchased || observation?.productType == .oneTime }

  /// Whether it shows a purchase in production only by its end, without transaction id and date.
  var isShownByEnd: Bool {
    transaction == 0 && environment == .production && observation != nil
      && observation?.lastChargedAt == nil && !canBeGrace && !canBeCutShort
  }

  /// Whether it shows, without transaction id, a purchase whose end may be that of its grace.
  var canBeGrace: Bool {
    transaction == 0 && observation?.isInBillingRetry == true && !canBeCutShort
  }

  /// Whether it shows, without transaction id, a purchase that was replaced, or that gives no
  /// access and awaits no payment: its end may be earlier than that of its period.
  var canBeCutShort: Bool {
    guard transaction == 0, let state = observation else { return false }
    return state.isReplaced || (state.isOwned == false && state.isInBillingRetry != true)
  }

  /// Orders states of one time and end as they were seen; without receive time, they are first, or
  /// last if a payment failed, because a failure is at the end.
  var turn: Instant {
    let isOpen = observation?.isTimeInferred == true && received == nil
    guard isOpen, observation?.isInBillingRetry == true else { return seenAt }
    return Instant(milliseconds: .max)
  }
}

extension [Event] {
  /// Positions of events by time; then by their end, the oldest bodies' only date; then as seen.
  func asSeen(_ places: some Sequence<Int>) -> [Int] {
    places.sorted { left, right in
      let (left, right) = (self[left], self[right])
      let (leftEnd, rightEnd) = (left.periodEnd ?? left.time, right.periodEnd ?? right.time)
      return (left.time, leftEnd, left.turn, left.identity)
        < (right.time, rightEnd, right.turn, right.identity)
    }
  }
}
