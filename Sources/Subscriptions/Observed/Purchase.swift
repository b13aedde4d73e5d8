import Domain

/// One paid or tried period, or one thing bought, with everything that shows its state.
struct Purchase {
  /// Those of the subscription.
  private let events: [Event]
  /// Of its state reports in `events`: a user can have hundreds of thousands.
  private var places: [Int]
  private var reportedPlace: Int?

  private init(_ events: [Event], at place: Int) {
    self.events = events
    places = [place]
    reportedPlace = events[place].opensPurchase ? place : nil
  }

  /// Its reported events and observations with a state, in business order; without any state, the
  /// reported event alone.
  var stateReports: LazyMapSequence<[Int], Event> { places.lazy.map { [events] in events[$0] } }

  /// The reported event that charges for it, or starts its trial.
  var reported: Event? { reportedPlace.map { events[$0] } }

  /// The state report that a derived charge is based on: the first one of a paid purchase.
  var first: Event? { stateReports.first { $0.observation?.isPending != true } }

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
  /// With a reported event that moves no money, the amounts of its state are a price.
  var revenue: Revenue? {
    let reported = stateReports.lazy.compactMap { event -> Revenue? in
      if let revenue = event.revenue { return revenue }
      guard let price = event.price, event.observation?.isTrial != true else { return nil }
      return Revenue(
        local: price.local, usd: price.usd, currency: price.currency, isProceed: false)
    }
    return reported.first(where: \.hasAmount) ?? reported.first
  }

  /// Its order among the purchases: the time of its charge, as far as one state report shows it.
  ///
  /// Bodies without transaction ids give only the order of ends, which includes ends that were cut.
  /// A transaction that was over when it was first seen was charged before its end.
  var place: (Instant, Instant, Instant, Int64) {
    let event = reported ?? first ?? stateReports[0]
    let cut = stateReports.filter(\.canBeCutShort).compactMap(\.periodEnd).min()
    let end = [cut, event.periodEnd].compactMap(\.self).min()
    let last = end ?? event.time
    let seen = event.transaction == 0 ? last : min(event.time, last)
    let moment = reported?.time ?? event.observation?.lastChargedAt ?? seen
    return (moment, end ?? moment, event.seenAt, event.identity)
  }
}

extension Purchase {
  /// The purchases in `events`, which are in business order.
  ///
  /// A purchase is a transaction. Where the provider sends no transaction ids it is an end: bodies
  /// of iaptic's first years show a renewal by a later `expirationDate` alone. Only in billing
  /// retry is a later end the grace of the same purchase, and an earlier one, of a replaced or
  /// revoked purchase, the end that was cut.
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
    for place in seen where !events[place].canBeCutShort { _ = add(place) }
    // Whose end was cut is known once all ends are.
    let cut = seen.filter { events[$0].canBeCutShort }
    if !cut.isEmpty { index.order(purchases) }
    for purchase in Set(cut.map(add)) {
      purchases[purchase].places = events.asSeen(purchases[purchase].places)
    }
    return purchases.map { (place: $0.place, purchase: $0) }.sorted { $0.place < $1.place }
      .map(\.purchase)
  }
}

/// The earlier purchase that an event is about.
private struct PurchaseIndex {
  private var byTransaction: [OfLineage<Int64>: Int] = [:]
  private var byEnd: [OfLineage<Instant?>: Int] = [:]
  private var newest: [Int64: (purchase: Int, end: Instant)] = [:]
  private var named: Set<Int> = []

  /// Times and periods of purchases in stores without ids for each charge.
  private var paid: [Int: (from: Instant, until: Instant)] = [:]

  /// The ends of each product's purchases, rising, and when each was first seen; none before
  /// `order`.
  private var ends: [OfLineage<StringID>: [(end: Instant, purchase: Int, seen: Instant)]] = [:]
  private let rules: FoldSettings

  init(rules: FoldSettings) { self.rules = rules }

  func purchase(of event: Event) -> Int? {
    let sameEnd = byEnd[OfLineage(event, event.periodEnd)]
    guard event.transaction == 0 else {
      let known = byTransaction[OfLineage(event, event.transaction)]
      if let known { return isChargedAnew(event, since: known) ? nil : known }
      return sameEnd.flatMap { named.contains($0) ? nil : $0 }
    }
    if let sameEnd { return sameEnd }
    if event.canBeCutShort, let cut = purchaseCut(by: event) { return cut }
    return event.observation?.isInBillingRetry == true ? newest[event.lineage]?.purchase : nil
  }

  /// Whether the event is about a later charge than that of `purchase`, under the same id.
  ///
  /// Apple and Play have an id for each charge; other stores can send the id of the subscription
  /// instead. There, the next charge shows as a later date, or as an end that is later by most of a
  /// period: a smaller shift is an extension, and a pending purchase is not paid yet.
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

  /// The purchase whose period was to end next after the end that is shown; unless another product
  /// took its place, only where it ran by then.
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

  /// Puts the ends of `purchases` in order.
  mutating func order(_ purchases: [Purchase]) {
    for (place, purchase) in purchases.enumerated() {
      guard let first = purchase.stateReports.first, let end = first.periodEnd else { continue }
      ends[OfLineage(first, first.product), default: []].append((end, place, first.seenAt))
    }
    ends = ends.mapValues { $0.sorted { ($0.end, $0.purchase) < ($1.end, $1.purchase) } }
  }

  mutating func add(_ event: Event, _ purchase: Int) {
    if event.transaction != 0 {
      let former = byTransaction.updateValue(purchase, forKey: OfLineage(event, event.transaction))
      named.insert(purchase)
      notePaid(event, purchase, after: former)
    }
    byEnd[OfLineage(event, event.periodEnd)] = purchase
    let end = event.periodEnd ?? event.time
    if let known = newest[event.lineage], end < known.end { return }
    newest[event.lineage] = (purchase, end)
  }

  /// A state without a date can be as old as the first purchase: the period of `former` is over by
  /// then.
  private mutating func notePaid(_ event: Event, _ purchase: Int, after former: Int?) {
    guard !event.store.startsWithOriginal, let end = event.periodEnd else { return }
    guard let known = paid[purchase] else {
      let over = former.flatMap { paid[$0]?.until } ?? event.time
      paid[purchase] = (event.observation?.lastChargedAt ?? max(event.time, over), end)
      return
    }
    guard event.observation?.isInBillingRetry != true else { return }
    paid[purchase] = (known.from, max(known.until, end))
  }
}

/// A transaction, a product or an end as events of one lineage name it.
struct OfLineage<Value: Hashable>: Hashable {
  let lineage: Int64
  let value: Value

  init(_ event: Event, _ value: Value) { (lineage, self.value) = (event.lineage, value) }
}

extension Event {
  /// Whether it shows, without transaction id, a purchase that another one replaced, or one that
  /// gives no access and waits for no payment: its end may be earlier than that of its period.
  var canBeCutShort: Bool {
    guard transaction == 0, let state = observation else { return false }
    return state.isReplaced || (state.isOwned == false && state.isInBillingRetry != true)
  }
}

extension [Event] {
  /// Places of events, by time; those of one time by their end, because the oldest bodies contain
  /// only ends, those of one end by when they were seen.
  func asSeen(_ places: some Sequence<Int>) -> [Int] {
    places.sorted { left, right in
      let (left, right) = (self[left], self[right])
      let (leftEnd, rightEnd) = (left.periodEnd ?? left.time, right.periodEnd ?? right.time)
      return (left.time, leftEnd, left.turn, left.identity)
        < (right.time, rightEnd, right.turn, right.identity)
    }
  }
}

extension Event {
  /// Orders the states of one time and end: as seen; without receive time first, or last where a
  /// payment failed, for that comes at the end.
  var turn: Instant {
    let isOpen = observation?.isTimeInferred == true && received == nil
    guard isOpen, observation?.isInBillingRetry == true else { return seenAt }
    return Instant(milliseconds: .max)
  }
}

/// The purchases after a purchase, as far as one state report each gives the charge time.
struct Successors {
  /// When the next purchase of something that renews was made.
  var first: Instant?
  /// When the next one under the same transaction id was.
  var ofItsID: Instant?
}

extension [Purchase] {
  var successors: [Successors] {
    var first: Instant?
    var byID: [OfLineage<Int64>: Instant] = [:]
    var found: [Successors] = []
    found.reserveCapacity(count)
    for purchase in reversed() {
      let event = purchase.stateReports[0]
      let id = OfLineage(event, event.transaction)
      found.append(Successors(first: first, ofItsID: id.value == 0 ? nil : byID[id]))
      guard !purchase.isOneTime else { continue }
      first = purchase.place.0
      byID[id] = purchase.place.0
    }
    return found.reversed()
  }
}
