import Domain
import Subscriptions

/// Determines what a missing transaction was, and the number of a missing charge in its
/// subscription, which gives the break its id.
///
/// Later evidence can date a loss more exactly or name its transaction. The number stays the same:
/// it counts periods from the known charges, by their own counters if they have any.
extension Reconciler {
  /// The transaction as a trial, if its shape has no types, and events report no earlier trial, and
  /// a conversion at its end, or its trial's cancel, failed payment or expiry.
  func typed(_ transaction: ListedTransaction, _ lineage: LineageInput?) -> ListedTransaction {
    guard transaction.kind == .unknown, let end = transaction.expiresAt,
      let state = lineage?.latest,
      !state.trials.contains(where: {
        $0.transaction != transaction.key && $0.start < transaction.at ?? end
      })
    else { return transaction }
    let isTrial =
      state.charges.contains { $0.kind == .conversion && $0.periodStart.isWithin(gap, of: end) }
      || state.unseenPeriods.contains { $0.isTrial && $0.transaction == transaction.key }
    guard isTrial else { return transaction }
    var trial = transaction
    trial.kind = .free
    return trial
  }

  func code(of transaction: ListedTransaction, _ lineage: LineageInput?) -> BreakCode {
    let siblings = siblings(of: transaction)
    let isPaidBefore = !isFirstPaid(transaction, lineage)
    // The first payment after a trial is its conversion, although some lists call it a renewal.
    let converts = !isPaidBefore && converts(transaction, lineage, siblings)
    switch transaction.kind {
    case .oneTime: return .missedPurchase
    // A free purchase after a payment is a free renewal.
    case .free: return isPaidBefore ? codeOfLaterCharge(transaction, lineage) : .missedStart
    case .trialStarted: return .missedStart
    case .renewed, .introRenewed: return converts ? .missedConversion : .missedRenewal
    case .started, .introStarted: break
    case .unknown:
      let renews =
        transaction.expiresAt != nil || lineage?.latest.isSubscription == true
        || siblings.contains { $0.expiresAt != nil }
      if !renews { return .missedPurchase }
      if isPaidBefore { return codeOfLaterCharge(transaction, lineage) }
    }
    return converts ? .missedConversion : .missedStart
  }

  /// The code of a later charge: a start if the last period expired or was refunded, else renewal.
  private func codeOfLaterCharge(
    _ transaction: ListedTransaction, _ lineage: LineageInput?
  ) -> BreakCode {
    guard let at = transaction.at, let state = lineage?.latest, let end = state.periodEnd,
      let last = begin(ofLastPeriodIn: state)
    else { return .missedRenewal }
    guard last < at else {
      return isFirst(transaction, at: at, afterExpiryIn: state) ? .missedStart : .missedRenewal
    }
    let revoked = state.accessRevoked ? state.effectiveEnd : nil
    if let revoked, at > revoked + gap, at + gap < end || at > end + gap { return .missedStart }
    return codeOfCharge(at: at, after: end, state)
  }

  /// Whether no listed or reported charge is between it and an expiry before it.
  private func isFirst(
    _ transaction: ListedTransaction, at: Instant, afterExpiryIn state: LineageState
  ) -> Bool {
    guard let lapse = state.churned.last(where: { $0.at + gap < at }), lapse.isExpired else {
      return false
    }
    let between = siblings(of: transaction).compactMap(\.at) + state.subscriptionCharges.map(\.time)
    return !between.contains { lapse.at <= $0 && $0 < at }
  }

  /// Whether it is the first payment of its subscription in the list and the events.
  func isFirstPaid(_ transaction: ListedTransaction, _ lineage: LineageInput?) -> Bool {
    let siblings = siblings(of: transaction)
    // A start in a list is a start, although it may be a new one.
    if transaction.kind == .unknown, transaction.expiresAt != nil,
      isOfEarlierSubscription(transaction, lineage)
    {
      return false
    }
    let trials = Set(lineage?.latest.trials.map(\.transaction) ?? [])
    let firstListed = siblings.first {
      $0.kind != .oneTime && !$0.isTrial && !trials.contains($0.key)
    }
    let reported = lineage?.latest.subscriptionCharges ?? []
    return firstListed.map { !$0.precedes(transaction) } ?? true
      && !reported.contains { isBefore($0.time, transaction) }
  }

  /// Whether its id, not the original one, proves an earlier transaction that is not a trial.
  func isOfEarlierSubscription(
    _ transaction: ListedTransaction, _ lineage: LineageInput?
  ) -> Bool {
    transaction.store.startsWithOriginal && transaction.id != transaction.original
      && lineage?.latest.trials.isEmpty ?? true
      && !siblings(of: transaction).contains(where: \.isTrial)
  }

  /// Whether it follows a trial within the gap or after billing retry.
  ///
  /// A later purchase is a new start. Without a trial start, its failed payments are unknown too.
  private func converts(
    _ transaction: ListedTransaction, _ lineage: LineageInput?, _ siblings: [ListedTransaction]
  ) -> Bool {
    let reported = lineage?.latest.trials.last { isBefore($0.start, transaction) }
    if let reported { return isBy(reported.convertibleUntil, transaction) }
    let listed = siblings.last { $0.isTrial && $0.precedes(transaction) }
    guard let listed else { return false }
    return isBy(listed.expiresAt.map { $0 + gap }, transaction)
  }

  private func isBy(_ limit: Instant?, _ transaction: ListedTransaction) -> Bool {
    guard let limit, let at = transaction.at else { return true }
    return at <= limit
  }

  private func isBefore(_ instant: Instant, _ transaction: ListedTransaction) -> Bool {
    transaction.at.map { instant < $0 } ?? true
  }

  /// `draft` with the number of the missing charge as its key; after an end that nothing followed,
  /// an expiry may be missing instead.
  ///
  /// A charge without a number, or with that of another loss, is identified by its transaction.
  func numbered(_ draft: BreakDraft, of name: LineageName, isFree: Bool = false) -> BreakDraft {
    guard draft.code.isCharge || [.missedExpiration, .missedProductChange].contains(draft.code),
      !draft.subject.original.isEmpty
    else { return draft }
    var draft = draft
    draft.family = BreakCode.charges
    let isListed =
      !draft.transaction.isEmpty && view.transaction(transactionKey(draft.transaction)) != nil
    if !isListed, let lineage = byName[name] {
      draft.subject.original = lineage.original(of: draft.code, at: draft.expectedAt)
    }
    if let key = isFree ? .start : key(of: draft, name) {
      draft.key = key
      guard let known = breaks[draft.id], isOther(known, than: draft) else { return draft }
    }
    if !draft.transaction.isEmpty {
      draft.key = .transaction(draft.transaction)
    } else if let at = draft.expectedAt {
      draft.key = .after(at)
    }
    return draft
  }

  private func isOther(_ known: Break, than draft: BreakDraft) -> Bool {
    known.transaction != draft.transaction || known.expectedAt != draft.expectedAt
      || known.code.isCharge != draft.code.isCharge
  }

  /// The number from the reported periods, whatever a snapshot lists, so that all evidence of the
  /// charge gives the same; nil if unknown, and for a purchase that its transaction identifies.
  private func key(of draft: BreakDraft, _ name: LineageName) -> BreakKey? {
    let isFirst = draft.transaction == draft.subject.original
    if draft.code == .missedPurchase, !isFirst, !draft.transaction.isEmpty { return nil }
    guard let instant = draft.expectedAt else { return isFirst ? .start : nil }
    let lineage = byName[name]
    // An entitlement continues with the first order of another subscription.
    if isFirst, let lineage, !([lineage.original] + lineage.parts).contains(draft.transaction) {
      return .start
    }
    let periods = lineage.map(numberedPeriods) ?? []
    // A change can be at any time of the period that it ends.
    let isChange = draft.code == .missedProductChange
    let place = periods.lastIndex { (isChange ? $0.begin : $0.middle) <= instant }
    guard let lineage, let index = place else {
      if isFirst || draft.code == .missedStart { return .start }
      if draft.code == .missedConversion { return .charge(0) }
      return periods.first.map { .charge($0.number - max(1, $0.count(until: instant))) }
        ?? number(inListOf: draft).map { .charge($0) }
    }
    let (last, next) = (periods[index], periods.dropFirst(index + 1).first)
    let others = view.transactions.count { listed in
      listed.kind != .oneTime && !listed.isTrial
        && listed.at.map { last.middle <= $0 && $0 < instant } ?? false
        && self.lineage(of: listed)?.name == name
    }
    // After an expiry or a failed payment, a charge can be at any time.
    let state = lineage.latest
    let isDelayed =
      next == nil
      ? state.expiredAt != nil || state.isInBillingRetry
      : (state.churned.filter(\.isExpired).map(\.at) + state.paymentsFailed)
        .contains { last.middle <= $0 && $0 <= instant }
    let between = isDelayed ? 0 : last.count(until: instant)
    let number = last.number + 1 + max(between, Int64(others))
    return .charge(next.map { max(last.number + 1, min(number, $0.number - 1)) } ?? number)
  }

  /// The number of a missing charge in a list from the start on, as reported periods would give it
  /// by their counters.
  private func number(inListOf draft: BreakDraft) -> Int64? {
    guard capabilities.sendsRenewalOrdinals,
      let listed = view.transaction(transactionKey(draft.transaction))
    else { return nil }
    let siblings = siblings(of: listed).filter { $0.kind != .oneTime }
    guard let first = siblings.first, first.isTrial || first.id == first.original else {
      return nil
    }
    return Int64(siblings.count { !$0.isTrial && $0.precedes(listed) })
  }

  /// The reported periods in order, each once.
  private func numberedPeriods(_ lineage: LineageInput) -> [NumberedPeriod] {
    let state = lineage.latest
    var periods = state.trials.map {
      NumberedPeriod(begin: $0.start, end: $0.end, isTrial: true)
    }
    periods += state.subscriptionCharges.map {
      NumberedPeriod(
        begin: $0.periodStart, end: $0.periodEnd, counter: $0.renewalCount.map(Int64.init))
    }
    periods.sort { $0.begin < $1.begin }
    var numbered: [NumberedPeriod] = []
    for var period in periods {
      guard let last = numbered.last else {
        period.number = period.counter ?? (period.isTrial ? -1 : 0)
        numbered.append(period)
        continue
      }
      let counter = period.counter ?? .min
      if period.begin < last.middle {
        (period.number, period.end) = (max(last.number, counter), period.end ?? last.end)
        numbered[numbered.count - 1] = period
        continue
      }
      // A trial has another length.
      let between =
        last.isTrial
        ? last.end.map(period.count) ?? 0 : last.count(until: period.begin)
      period.number = counter > last.number ? counter : last.number + 1 + between
      numbered.append(period)
    }
    return numbered
  }
}

/// A period that events report.
private struct NumberedPeriod {
  var begin: Instant
  var end: Instant?
  var counter: Int64?
  var isTrial = false
  /// −1 is a trial, 0 the first reported charge unless it has a counter.
  var number: Int64 = 0

  private var length: Interval { max(.seconds(0), end?.since(begin) ?? .seconds(0)) }

  /// The limit before which a start belongs to the same period with another date.
  var middle: Instant {
    begin + max(.hours(12), .seconds(length.milliseconds / 2_000))
  }

  /// The number of similar periods between it and `instant`, on either side; 0 after a trial, whose
  /// length is different.
  func count(until instant: Instant) -> Int64 {
    guard length > .seconds(0), !isTrial || instant < begin else { return 0 }
    let between = instant < begin ? begin.since(instant) : instant.since(end ?? begin)
    return max(.seconds(0), between).rounded(dividingBy: length)
  }
}
