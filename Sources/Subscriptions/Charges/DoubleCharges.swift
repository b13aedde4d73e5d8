import Domain

/// An event whose money, or part of it, is left out of the sums.
struct HeldEvent: Sendable {
  var event: Event
  var reason: ExclusionReason
  /// The booked charge of the same transaction.
  var booked: Event
}

/// The charges of one subscription, with each store transaction charged once.
struct DoubleCharges {
  /// The events in business order, without charges that are left out.
  private(set) var events: [Event]
  private(set) var held: [HeldEvent] = []
  private(set) var findings: [FoldFinding] = []

  /// Finds transactions in `events`, which are in business order, that are charged more than once.
  ///
  /// The charge whose message was created first is booked, whichever arrived or happened first.
  init(_ events: [Event], rules: borrowing FoldSettings) throws(AmountOverflow) {
    self.events = events
    guard let firsts = firstCharges(of: events) else { return }
    var kept: [Event] = []
    for event in events {
      guard event.chargesTransaction, let first = firsts[event.chargeOfStore],
        first.identity != event.identity, event.repeats(first, rules)
      else {
        kept.append(event)
        continue
      }
      held.append(HeldEvent(event: event, reason: .doubleCharge, booked: first))
      let money = try rules.completed(chargeMoney(event).money, of: event).money
      findings.append(
        FoldFinding(
          .doubleCharge, event, difference: money.grossUSD,
          "\(event.kindAndTime) charges the transaction again after \(first.kindAndTime); "
            + (rules.doubleCharges == .hold ? "it is held out of the sums" : "both are booked")))
    }
    if rules.doubleCharges == .book { held = [] } else { self.events = kept }
  }
}

/// The first charge of each transaction by creation; nil when each is charged once.
private func firstCharges(of events: [Event]) -> [ChargeKey: Event]? {
  var charged: Set<ChargeKey> = []
  guard
    events.contains(where: { $0.chargesTransaction && !charged.insert($0.chargeOfStore).inserted })
  else { return nil }
  return Dictionary(events.lazy.filter(\.chargesTransaction).map { ($0.chargeOfStore, $0) }) {
    $0.isCreated(before: $1) ? $0 : $1
  }
}

extension Event {
  /// Whether its transaction id identifies a single charge; ids of other stores may repeat.
  var namesOneCharge: Bool {
    transaction != 0 && environment == .production && (store.isApple || store == .playStore)
  }

  /// The charged unit: a transaction, or the part for one product if the provider shows one
  /// transaction as several purchases.
  var chargeOfStore: ChargeKey {
    ChargeKey(transaction, of: provider.capabilities.sendsWholeCharges ? 0 : product)
  }

  /// Whether it charges the same as `first` again, under the same id.
  ///
  /// If a provider does not send an amount with each charge, all renewals may have the same id:
  /// there, it is the next charge if half of the period of `first` is over.
  func repeats(_ first: Event, _ rules: borrowing FoldSettings) -> Bool {
    guard !provider.capabilities.sendsWholeCharges, chargeKind != .oneTime else { return true }
    let start = first.periodStart ?? first.time
    let end = first.periodEnd ?? rules.periodLength(of: first)?.end(from: start)
    let half = end.map { Interval(milliseconds: $0.since(start).milliseconds / 2) }
    let near = half ?? rules.renewalGap
    // The charge created first can be of a later period.
    return start - near < time && time < start + near
  }

  /// Whether it charges a transaction that can be charged only once; a product change that costs
  /// nothing only reports the change.
  var chargesTransaction: Bool {
    guard chargeKind != nil, namesOneCharge else { return false }
    guard kind.isProductChange, let revenue else { return true }
    return revenue.isNotZero
  }

  /// Whether its message was created before that of `other`; if both were created at once, whether
  /// it was received first or, failing that, happened first.
  func isCreated(before other: Event) -> Bool {
    let never = Instant(milliseconds: .max)
    return (created ?? time, received ?? never, time, identity)
      < (other.created ?? other.time, other.received ?? never, other.time, other.identity)
  }
}
