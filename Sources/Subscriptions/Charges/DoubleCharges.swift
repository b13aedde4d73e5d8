import Domain

/// An event whose money, or a part of it, is held out of the sums.
struct HeldEvent: Sendable {
  var event: Event
  var reason: ExclusionReason
  /// The charge that is booked for the same transaction.
  var booked: Event
}

/// The charges of one subscription, each store transaction charged once.
struct DoubleCharges {
  /// In business order, without the charges that are held.
  private(set) var events: [Event]
  private(set) var held: [HeldEvent] = []
  private(set) var findings: [FoldFinding] = []

  /// Finds the transactions of `events`, in business order, that are charged more than once.
  ///
  /// The charge made first is booked, whichever arrived or happened first.
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
          "\(event.kind.name) of \(event.time.text) charges the transaction again after "
            + "\(first.kind.name) of \(first.time.text); "
            + (rules.doubleCharges == .hold ? "it is held out of the sums" : "both are booked")))
    }
    if rules.doubleCharges == .book { held = [] } else { self.events = kept }
  }
}

/// The charge of each transaction that was made first; nil when each is charged once.
private func firstCharges(of events: [Event]) -> [ChargeKey: Event]? {
  var charged: Set<ChargeKey> = []
  var hasDouble = false
  for event in events where event.chargesTransaction {
    if !charged.insert(event.chargeOfStore).inserted { hasDouble = true }
  }
  guard hasDouble else { return nil }
  var firsts: [ChargeKey: Event] = [:]
  for event in events where event.chargesTransaction {
    let key = event.chargeOfStore
    if let first = firsts[key], first.isMade(before: event) { continue }
    firsts[key] = event
  }
  return firsts
}

extension Event {
  /// Whether its transaction id is that of one charge.
  ///
  /// Those of Apple and Play are. Ids of other stores may repeat.
  var namesOneCharge: Bool {
    guard transaction != 0, environment == .production else { return false }
    switch store {
    case .appStore, .macAppStore, .playStore: return true
    case .stripe, .amazon, .windows, .paypal, .unknown: return false
    }
  }

  /// What it charges: a transaction, or the part of one for a product, where a provider shows what
  /// one transaction bought as several purchases.
  var chargeOfStore: ChargeKey {
    ChargeKey(transaction, of: provider.capabilities.sendsWholeCharges ? 0 : product)
  }

  /// Whether it charges again what `first` does, under the same id.
  ///
  /// Of providers that do not send each charge with its amount, an id may be that of all renewals:
  /// theirs is the next charge once half of the period of `first` is over.
  func repeats(_ first: Event, _ rules: borrowing FoldSettings) -> Bool {
    guard !provider.capabilities.sendsWholeCharges, chargeKind != .oneTime else { return true }
    let start = first.periodStart ?? first.time
    let end = first.periodEnd ?? rules.periodLength(of: first)?.end(from: start)
    let half = end.map { Interval(milliseconds: $0.since(start).milliseconds / 2) }
    let near = half ?? rules.renewalGap
    // A charge that was made first can be of a later period.
    return start - near < time && time < start + near
  }

  /// Whether it charges a transaction that can be charged but once; a change of product that costs
  /// nothing only reports the change.
  var chargesTransaction: Bool {
    guard chargeKind != nil, namesOneCharge else { return false }
    guard kind.isProductChange, let revenue else { return true }
    return revenue.isNotZero
  }

  /// Whether the provider made it before `other`; of two made at once, the one that was received,
  /// else that happened first.
  func isMade(before other: Event) -> Bool {
    let never = Instant(milliseconds: .max)
    return (created ?? time, received ?? never, time, identity)
      < (other.created ?? other.time, other.received ?? never, other.time, other.identity)
  }
}
