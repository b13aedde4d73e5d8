import Domain

// Gaps between charges that a later charge proves to have been paid for.

extension SubscriptionHistory {
  /// The unpaid period before a charge, if nothing explains the gap; if renewals are counted from a
  /// known one, the counter decides instead.
  func freePeriod(before index: Int) -> UnseenPeriod? {
    guard index > 0,
      let time = UnpaidGap(periods[index - 1], periods[index], events, rules.renewalGap),
      time.charge.renewalCount == nil || time.isUnannounced || !isCounted(before: index),
      !time.isExplained
    else { return nil }
    return time.period
  }

  /// Whether the number of renewals before a period is known: a product change or new start since
  /// the last counter may be what the next counter counted in addition.
  private func isCounted(before index: Int) -> Bool {
    let first = stretches.first.flatMap { $0.opening == .new ? $0.periods.first : nil }
    let known = periods[..<index].lastIndex { events[$0.opener].renewalCount != nil } ?? first
    guard let known, known < index else { return false }
    let charges = periods[(known + 1)...index].map { events[$0.opener] }
    let renewals = charges.count { $0.kind == .renewed }
    let last = Int(events[periods[known].opener].renewalCount ?? 0)
    return renewals == charges.count || Int(charges.last?.renewalCount ?? 0) <= last + renewals
  }

  /// The missing start if a renewal follows an expiry: it was one period earlier.
  ///
  /// Some providers send the restart itself as a renewal. Only a counter that starts again, or a
  /// provider that reports restarts as such, proves another charge.
  func restart(before index: Int) -> UnseenPeriod? {
    guard index > 0, let free = periods[index - 1].effectiveEnd, let end = periods[index].end
    else { return nil }
    let begun = periods[index].start
    guard end > begun else { return nil }
    let start = PeriodLength(from: begun, to: end).start(before: begun)
    guard start > free + rules.renewalGap else { return nil }
    let (previous, next) = (periods[index - 1], periods[index])
    let (before, renewal) = (events[previous.opener], events[next.opener])
    guard renewal.kind == .renewed, !previous.isTrial,
      !previous.isEndDerived || !renewal.provider.capabilities.sendsPeriodEnds,
      previous.revokedAt == nil, !previous.isInvoluntary(events),
      previous.ownEvents.contains(where: { events[$0].isExpiry })
    else { return nil }
    if let count = renewal.renewalCount, let last = before.renewalCount {
      guard count <= last else { return nil }
    } else if !renewal.provider.capabilities.sendsRestarts {
      return nil
    }
    return UnseenPeriod(
      product: renewal.product, start: start, end: next.start, previousEnd: free, isRestart: true,
      kind: renewal.kind, time: renewal.time)
  }
}

private struct UnpaidGap {
  let start: Instant
  /// The first charge after the gap.
  let charge: Event
  private let previous: Period
  private let next: Period
  private let events: [Event]
  /// The longest gap that is not a lapse, in milliseconds.
  private let gap: Int64

  /// Nil if the periods follow each other.
  init?(_ previous: Period, _ next: Period, _ events: [Event], _ gap: Interval) {
    guard let start = previous.continuableFrom, next.start > start + gap else { return nil }
    (self.start, self.previous, self.next) = (start, previous, next)
    (self.events, self.gap, charge) = (events, gap.milliseconds, events[next.opener])
  }

  /// Whether a renewal proves that the whole gap was paid: the provider reports restarts as such.
  private var isRenewal: Bool {
    charge.provider.capabilities.sendsRestarts && charge.kind == .renewed && !previous.isTrial
  }

  private var isFailed: Bool { previous.isInvoluntary(events) }

  /// Whether a state shows the first charge after a trial.
  private var isConversion: Bool {
    previous.isTrial && charge.kind == .started && charge.observation != nil
  }

  /// Whether another product replaced the previous one.
  private var isReplaced: Bool { previous.ownEvents.contains { events[$0].isOfReplaced } }

  /// Whether the product changed without an event of it, so that the gap is of the new one.
  private var isMoved: Bool { isReplaced || isUnannounced }

  /// Whether the charge renews another product although no event announced a change.
  ///
  /// An upgrade with its own charge then began the period before it. Apple charges upgrades at
  /// once; other stores may grant time instead.
  var isUnannounced: Bool {
    charge.kind == .renewed && charge.provider.capabilities.body == .event
      && charge.store.isApple && !previous.isTrial && !isFailed && !isOfProduct
  }

  /// Whether the charge renews a subscription of which neither charge nor trial start arrived.
  private var isOfAnother: Bool {
    let first = events.first { $0.lineage == charge.lineage && $0.opensPurchase }
    return isUnannounced && !charge.startsLineage && first?.identity == charge.identity
  }

  /// Whether the charge is for the previous product or for an announced one.
  private var isOfProduct: Bool {
    next.product == previous.product
      || previous.ownEvents.contains {
        events[$0].isAnnouncement && events[$0].product == next.product
      }
  }

  /// Whether a change to the next product was announced within the gap, for its end.
  private var isAnnouncedWithin: Bool {
    previous.ownEvents.contains { events[$0].isAnnouncement && events[$0].time > start }
  }

  /// Whether the charge is a renewal, or a charge derived from a state, which can be one unless it
  /// is another Play order.
  private var mayRenew: Bool {
    if charge.kind == .renewed { return true }
    return charge.kind == .resubscribed && charge.observation != nil
      && (charge.store != .playStore || charge.lineage == events[previous.opener].lineage)
  }

  /// Whether the subscription ended, paused or lapsed, or the charge can belong to another one.
  var isExplained: Bool {
    let mayLapse = isFailed || previous.autoRenewOffSince(events, before: nil) != nil
    return mayLapse && !isRenewal || start != previous.end || previous.revokedAt != nil
      || !charge.provider.capabilities.linksRenewals(in: charge.store)
      || previous.ownEvents.contains {
        events[$0].isEnd && !events[$0].isOfReplaced && !isMoneyOnly(events[$0])
          || events[$0].kind == .paused
      }
  }

  /// Whether it is a refund that left access on: partial, of an older charge, or after the end.
  private func isMoneyOnly(_ event: Event) -> Bool {
    let isOfOther = ![0, events[previous.opener].transaction].contains(event.transaction)
    return event.kind == .refunded && (event.revenue != nil || isOfOther)
  }

  /// The period that was paid in the gap; nil if no period fits.
  var period: UnseenPeriod? {
    let isSame = next.product == previous.product
    let like = isSame && next.end != nil || previous.isTrial || isMoved ? next : previous
    guard let end = like.end, end > like.start else { return nil }
    let begin = PeriodLength(from: like.start, to: end).start(before: next.start)
    let length = end.since(like.start).milliseconds
    guard fits(length, from: begin) else { return nil }
    let isStart = isOfAnother
    let isWithin = isMoved && start.since(begin).milliseconds > tolerance(length)
    return UnseenPeriod(
      product: (mayRenew || isConversion) && !isAnnouncedWithin ? next.product : previous.product,
      start: isFailed ? max(start, begin) : isWithin || isStart ? begin : start, end: next.start,
      previousEnd: start, opensLineage: isStart, kind: charge.kind, time: charge.time)
  }

  private func tolerance(_ length: Int64) -> Int64 { max(gap, length / 7) }

  /// Whether a period of `length` milliseconds that ends at the next one may have begun at `begin`.
  private func fits(_ length: Int64, from begin: Instant) -> Bool {
    let late = begin.since(start).milliseconds
    let tolerance = isConversion ? hour : tolerance(length)
    // A charge earlier than one short period comes from a retry; after a recovery, a renewal keeps
    // the billing date.
    let isRecovered = isRenewal && events[previous.opener].kind == .recovered
    let early =
      isRecovered ? length / 2 : length < Interval.days(28).milliseconds ? hour : tolerance
    if isMoved { return begin >= previous.start && late <= tolerance }
    if isFailed { return late >= -early && isOfProduct }
    let free = next.start.since(start).milliseconds
    let count = isRenewal ? max(1, (free + length / 2) / length) : 1
    let difference = isConversion ? late : free - count * length
    if charge.chargeKind == .productChange {
      let sender = charge.provider.capabilities
      return (sender.sendsExpirations || sender.sendsRestarts) && difference <= tolerance
    }
    return (mayRenew || isConversion) && (-early...tolerance).contains(difference) && isOfProduct
  }
}

extension Event {
  var isOfReplaced: Bool { isExpiry && observation?.isReplaced == true }
}

private let hour = Interval.hours(1).milliseconds
