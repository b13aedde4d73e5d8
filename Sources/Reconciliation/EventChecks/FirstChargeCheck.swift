import Domain
import Subscriptions

extension Reconciler {
  /// Raises the charges before a first charge that cannot be the first, as far as they are after
  /// the first event of the feed.
  ///
  /// - Parameter onlyDated: whether to skip subscriptions whose states do not date the start.
  func evaluateFirstCharges(onlyDated: Bool = false) {
    for lineage in ownLineages
    where !onlyDated || lineage.latest.firstPurchasedAt != nil {
      // A list of more than the newest transaction per product was evaluated by ids.
      let isEvaluated = !capabilities.listsPastProducts && isListed(lineage)
      var last: Instant?
      for paid in lineage.countedCharges {
        if !isEvaluated || paid.charges.first.map({ $0.time > knownAt }) ?? false {
          evaluateFirst(of: paid, after: last, lineage)
        }
        if !isEvaluated { findRestarts(in: paid, lineage) }
        last = paid.charges.last?.time
      }
    }
  }

  /// - Parameter last: the last charge of the previous order, on Play.
  private func evaluateFirst(
    of paid: CountedCharges, after last: Instant?, _ lineage: LineageInput
  ) {
    let state = lineage.latest
    guard let first = paid.charges.first, last != nil || state.trials.isEmpty,
      !state.unseenPeriods.contains(where: { period in
        period.time < first.time && last.map { $0 < period.time } ?? true
      }),
      !missing(in: lineage).contains(where: { isBefore(first, $0, after: last) })
    else { return }
    guard last == nil else {
      if !paid.isFromStart, !isFoundMissing(until: first.periodStart) {
        findChargesBefore(first, after: last, lineage)
      }
      return
    }
    // What another provider reported before counts as that one's, or precedes a move to this one.
    guard !state.reportedByOthers.contains(where: { $0.time < first.time }) else { return }
    switch first.kind {
    case .renewal: findChargesBefore(first, after: nil, lineage)
    case .conversion: findTrialBefore(first, lineage)
    case .first, .productChange, .oneTime: break
    }
  }

  /// Raises the starts after a lapse that the states of later charges date.
  private func findRestarts(in paid: CountedCharges, _ lineage: LineageInput) {
    let state = lineage.latest
    for (last, next) in zip(paid.charges, paid.charges.dropFirst()) {
      guard let bought = next.purchasedAt, let end = last.periodEnd, bought > end + gap,
        bought + gap < next.periodStart, !isMissed(at: bought)
      else { continue }
      let others =
        state.unseenPeriods.map(\.time) + state.productChanges.map(\.time)
        + state.trials.map(\.start) + state.reportedByOthers.map(\.time)
      // Other checks evaluate what these events report.
      if others.contains(where: { last.time < $0 && $0 < next.time }) { continue }
      let found = missing(in: lineage)
      if !found.contains(where: { isBefore(next, $0, after: last.time) }) {
        findCharges(since: bought, before: next, lineage, opensLineage: false)
      }
    }
  }

  private func isBefore(_ first: Charge, _ charge: MissingCharge, after last: Instant?) -> Bool {
    charge.code != .missedPurchase
      && charge.at.map { $0 <= first.time && (last ?? $0) <= $0 } ?? true
  }

  /// Raises the start, or as many counted renewals, as far as the feed would have reported them.
  ///
  /// Soon after the first event of the feed, the charge may be recovered from a billing retry that
  /// began before that event. After a product change, the length of the previous period is unknown.
  /// Without a counter, a transaction id that is not the original one proves the charge of the
  /// previous period: the start, unless that can have been before the feed.
  private func findChargesBefore(_ first: Charge, after last: Instant?, _ lineage: LineageInput) {
    let (about, state) = (subject(lineage), lineage.latest)
    guard !state.productChanges.contains(where: { $0.time <= first.time }),
      last != nil || !state.paymentsFailed.contains(where: { $0 < first.time })
    else { return }
    if last == nil, let bought = state.firstPurchasedAt, bought + gap < first.periodStart {
      return findCharges(since: bought, before: first, lineage)
    }
    let counted = first.renewalCount.map(Int64.init).flatMap { $0 > 0 ? $0 : nil }
    // A start is not missing if starts are not always reported.
    let announces = state.provider.capabilities.announcesLateUploads
    let limit = (counted ?? (isOfLaterTransaction(first, lineage) ? 2 : 0)) - (announces ? 0 : 1)
    guard isWatched(first.periodStart - rules.fold.retryHorizon, about) else { return }
    let length = length(of: first, lineage)
    var (number, at) = (Int64(0), first.periodStart)
    // The first state can be seen long after the charge.
    if state.provider.capabilities.body != .event, let paid = first.periodEnd,
      let begun = length?.start(before: paid)
    {
      at = min(at, begun)
    }
    var latest: Instant?
    while number < limit, let begin = length?.start(before: at),
      isWatched(begin, about), last.map({ $0 < begin }) ?? true
    {
      (number, at, latest) = (number + 1, begin, latest ?? begin)
    }
    guard let latest else { return }
    let name = counted.map { "renewal \($0)" } ?? "of another transaction than the original one"
    let order = last == nil ? "" : " of its order"
    let evidence = "the first charge\(order) that arrived, of \(first.time.text), is \(name)"
    guard number == limit, announces else {
      return raiseCharge(
        .missedRenewal, of: lineage, count: counted == nil ? 1 : number, at: at, evidence)
    }
    if counted == nil { at = latest }
    // The subscription can have begun with longer periods of another product.
    let earliest = rules.firstEventAt(about).map { min($0, at - longestTrial) } ?? at
    guard !shows(lineage, begunBefore: earliest) else { return omit(.beforeFirstEvent) }
    raiseCharge(
      .missedStart, of: lineage, at: at, opensLineage: last == nil,
      evidence + "; no start arrived")
  }

  /// Whether its id, which is not the original one, proves an earlier charge, without a counter.
  private func isOfLaterTransaction(_ charge: Charge, _ lineage: LineageInput) -> Bool {
    let state = lineage.latest
    return state.provider.capabilities.body == .event
      && state.provider.capabilities.announcesLateUploads && state.store.startsWithOriginal
      && charge.transaction != 0 && charge.transaction != lineage.originalKey
  }

  /// Raises the start that a state dates, and the renewals in between if only whole periods fit.
  ///
  /// The start is a free trial if a paid period is longer than the time since. If Play's number
  /// leaves only the start, it is a trial longer than a period, or it was paid and a payment
  /// failed.
  private func findCharges(
    since bought: Instant, before first: Charge, _ lineage: LineageInput, opensLineage: Bool = true
  ) {
    guard isWatched(bought, lineage), let end = first.periodEnd, end > first.periodStart,
      let length = length(of: first, lineage)
    else { return }
    var count = 1
    while length.end(from: bought, times: count) + gap < first.periodStart { count += 1 }
    let isAlone = first.renewalCount == 1 && count > 1
    let isLongTrial = isAlone && first.periodStart <= bought + longestTrial
    if isAlone { count = 1 }
    let evidence =
      "of a subscription bought \(bought.text), the first charge that arrived is of "
      + first.time.text
    let isFree = isLongTrial || first.periodStart + gap < length.end(from: bought)
    raiseCharge(
      .missedStart, of: lineage, at: bought, isFree: isFree, opensLineage: opensLineage,
      evidence + "; no start arrived")
    if count > 1, length.end(from: bought, times: count) <= first.periodStart + gap {
      raiseCharge(
        .missedRenewal, of: lineage, count: Int64(count - 1), at: length.end(from: bought),
        evidence)
    }
  }

  /// The length of the period that a charge paid for; nil if unknown.
  private func length(of charge: Charge, _ lineage: LineageInput) -> PeriodLength? {
    if let length = rules.length(of: lineage.text(charge.product)) { return length }
    guard let end = charge.periodEnd, end > charge.periodStart else { return nil }
    return PeriodLength(from: charge.periodStart, to: end)
  }

  /// Raises the trial start if the trial, whose length is unknown, began after the first event.
  private func findTrialBefore(_ conversion: Charge, _ lineage: LineageInput) {
    guard isWatched(conversion.periodStart - longestTrial, lineage) else { return }
    raiseCharge(
      .missedStart, of: lineage, product: lineage.text(conversion.product),
      at: conversion.periodStart, isFree: true, opensLineage: true,
      "the conversion of \(conversion.time.text) follows a trial whose start never arrived")
  }

  /// Finds ends after which no event of an auto-renewing subscription arrived although one was due.
  ///
  /// A missing event of the last period that the snapshot shows explains this. Otherwise it is
  /// unknown which event is missing: it is reported as a renewal, until the next renewal is overdue
  /// too, or a snapshot shows no access after the end; then the subscription has ended.
  func findUnansweredEnds() {
    lazy var found = Dictionary(grouping: breaks.values) {
      LineageName(app: $0.app, store: $0.store, original: $0.subscription)
    }
    for lineage in ownLineages {
      guard let end = lineage.latest.unansweredEnd, isWatched(end, lineage),
        missing(in: lineage, after: lineage.latest).isEmpty,
        !(found[lineage.name] ?? []).contains(where: { explains($0, unansweredEndOf: lineage) }),
        !isReplaced(lineage)
      else { continue }
      let isShownOver = isShownOver(lineage, after: end)
      let code = isShownOver ? .missedExpiration : code(ofUnanswered: end, lineage)
      let newest = rules.feed(user.provider, lineage.app)?.newest ?? rules.fold.asOf
      let until = min(newest, rules.fold.asOf).text
      let state = lineage.latest
      let product = lineage.text(state.scheduledProduct ?? state.product)
      var draft = BreakDraft(
        code: code, subject: subject(lineage, product: product), expectedAt: end,
        isProvenByEvents: true,
        evidence: "auto-renew was on and the period ended \(end.text); until \(until) neither a "
          + "charge nor a cancel, an expiry or a failed payment arrived")
      if isShownOver {
        draft.worth = nothing
        draft.evidence += "; the snapshot of \(knownAt.text) shows no access after that end"
      } else if code == .missedExpiration {
        draft.severity = .medium
      } else {
        draft.worth = estimate(lineage, product: product, of: code, at: end)
      }
      raise(numbered(draft, of: lineage.name))
    }
  }

  /// Whether a break explains why nothing followed the last period.
  private func explains(_ found: Break, unansweredEndOf lineage: LineageInput) -> Bool {
    guard found.code.explainsMissingEvents, let at = found.expectedAt else { return false }
    // A refund of an older charge ended nothing.
    if found.code == .missedRefund, !isRefundMissed(lineage) { return false }
    return begin(ofLastPeriodIn: lineage.latest).map { at >= $0 } ?? true
  }

  /// Whether a snapshot later than `end` plus the gap shows the subscription as over, lists its
  /// transactions, or shows no active access.
  ///
  /// It would show a charge made at that end.
  private func isShownOver(_ lineage: LineageInput, after end: Instant) -> Bool {
    guard user.snapshot != nil, knownAt >= end + gap else { return false }
    if let match = match(of: lineage) { return isOver(match) }
    return isListed(lineage) || !mayBeHidden(lineage) && view.entitlements.allSatisfy(isOver)
  }

  private func code(ofUnanswered end: Instant, _ lineage: LineageInput) -> BreakCode {
    let state = lineage.latest
    let length = periodLength(state) ?? .days(366)
    let feed = Feed(provider: state.provider, app: state.app)
    if end + length <= rules.fold.endsAreFinal(until: feed) { return .missedExpiration }
    return state.isTrial ? .missedConversion : .missedRenewal
  }
}

private let longestTrial = Interval.days(31)

extension BreakCode {
  /// Whether a missing event or a mismatch can explain why a subscription's events stopped.
  var explainsMissingEvents: Bool {
    [
      .missedCancel, .missedExpiration, .missedBillingIssue, .missedRefund, .missedProductChange,
      .expiryMismatch, .aheadOfSnapshot,
    ].contains(self)
  }
}
