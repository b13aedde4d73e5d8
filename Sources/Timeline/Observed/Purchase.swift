import Vocabulary

/// One paid or tried period, or one thing bought, with everything that shows its state.
struct Purchase {
  /// Told events and observations of it that carry a state, in business order; of a purchase that
  /// was told without state, the told event alone.
  var sightings: [Event]
  /// The told event that charges for it, or that starts its trial.
  var told: Event?

  private init(_ event: Event) {
    sightings = [event]
    told = event.opensPurchase ? event : nil
  }

  /// The sighting that a derived charge rests on: the first of a purchase that is paid for.
  var first: Event? { sightings.first { $0.observation?.isPending != true } }

  var isOneTime: Bool {
    if let told { return told.kind == .purchased }
    guard let first else { return false }
    return (first.observation?.productType ?? (first.periodEnd == nil ? .oneTime : .subscription))
      == .oneTime
  }

  var isTrial: Bool {
    told.map { $0.kind == .trialStarted } ?? (first?.observation?.isTrial == true)
  }

  /// What was charged for it, from the first sighting that tells an amount, else from the first
  /// that tells the currency.
  ///
  /// Beside a told event that moves no money, the amounts of its state are a price.
  var revenue: Revenue? {
    let told = sightings.lazy.compactMap { event -> Revenue? in
      if let revenue = event.revenue { return revenue }
      guard let price = event.price, event.observation?.isTrial != true else { return nil }
      return Revenue(
        local: price.local, usd: price.usd, currency: price.currency, isProceed: false)
    }
    return told.first(where: \.hasAmount) ?? told.first
  }

  /// Where it stands among the purchases: when it was charged, as far as one sighting can tell.
  ///
  /// The bodies without transaction ids tell no more than the order of ends.
  var place: (Instant, Instant, Instant, Int64) {
    let event = told ?? first ?? sightings[0]
    let seen = event.transaction == 0 ? event.periodEnd ?? event.time : event.time
    let moment = told?.time ?? event.observation?.lastChargedAt ?? seen
    return (moment, event.periodEnd ?? moment, event.seenAt, event.identity)
  }
}

extension Purchase {
  /// The purchases that `events`, in business order, tell of or show.
  ///
  /// A purchase is a transaction. Where the provider sends no transaction ids it is an end: bodies
  /// of iaptic's first years show a renewal by a later `expirationDate` alone. Only in billing
  /// retry is a later end the grace of the same purchase.
  static func all(in events: [Event]) -> [Purchase] {
    var purchases: [Purchase] = []
    var index = PurchaseIndex()
    for event in events.asSeen where event.observation != nil || event.opensPurchase {
      if let known = index.purchase(of: event) {
        purchases[known].sightings.append(event)
        if event.opensPurchase { purchases[known].told = purchases[known].told ?? event }
        index.add(event, known)
      } else {
        index.add(event, purchases.count)
        purchases.append(Purchase(event))
      }
    }
    return purchases.sorted { $0.place < $1.place }
  }
}

/// Which purchase an event speaks of, of those that came before it.
private struct PurchaseIndex {
  private struct Transaction: Hashable {
    var lineage: Int64
    var id: Int64
  }

  private struct End: Hashable {
    var lineage: Int64
    var end: Instant?
  }

  private var byTransaction: [Transaction: Int] = [:]
  private var byEnd: [End: Int] = [:]
  /// The purchase with the latest end.
  private var newest: [Int64: (purchase: Int, end: Instant)] = [:]
  /// Purchases whose transaction is known.
  private var named: Set<Int> = []

  func purchase(of event: Event) -> Int? {
    let sameEnd = byEnd[End(lineage: event.lineage, end: event.periodEnd)]
    guard event.transaction == 0 else {
      let known = byTransaction[Transaction(lineage: event.lineage, id: event.transaction)]
      return known ?? sameEnd.flatMap { named.contains($0) ? nil : $0 }
    }
    if let sameEnd { return sameEnd }
    return event.observation?.isInBillingRetry == true ? newest[event.lineage]?.purchase : nil
  }

  mutating func add(_ event: Event, _ purchase: Int) {
    if event.transaction != 0 {
      byTransaction[Transaction(lineage: event.lineage, id: event.transaction)] = purchase
      named.insert(purchase)
    }
    byEnd[End(lineage: event.lineage, end: event.periodEnd)] = purchase
    let end = event.periodEnd ?? event.time
    if let known = newest[event.lineage], end < known.end { return }
    newest[event.lineage] = (purchase, end)
  }
}

extension Event {
  /// Whether a told event charges for something or starts a trial.
  var opensPurchase: Bool {
    kind != .observed && (chargeKind != nil || kind == .trialStarted)
  }
}

extension Event {
  /// When the state was seen: at its time, where its body tells one, else when it was received.
  ///
  /// Of copies the one received last counts, so that a state that comes back is seen last.
  var seenAt: Instant {
    guard observation?.isTimeInferred == true, let received else { return time }
    return received
  }
}

extension [Event] {
  /// Events of one time by the end of which they speak, for the oldest bodies tell only ends; those
  /// of one end as they were seen.
  var asSeen: [Event] {
    sorted {
      let (left, right) = ($0.periodEnd ?? $0.time, $1.periodEnd ?? $1.time)
      return ($0.time, left, $0.turn, $0.identity) < ($1.time, right, $1.turn, $1.identity)
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
