import Subscriptions
import Domain

extension Reconciler {
  /// A first charge that cannot be the first proves those before it, as far as they lie after the
  /// first event of the feed.
  func evaluateFirstCharges() {
    for lineage in lineagesOfAnyTime where !lineage.isHeldByAnotherUser {
      let state = lineage.latest
      guard let first = state.subscriptionCharges.first, state.trials.isEmpty,
        !state.unseenPeriods.contains(where: { $0.time < first.time }),
        !missing(in: lineage).contains(where: { isBefore(first, $0) }), !isListed(lineage)
      else { continue }
      switch first.kind {
      case .renewal: findChargesBefore(first, lineage)
      case .conversion: findTrialBefore(first, lineage)
      case .first, .productChange, .oneTime: break
      }
    }
  }

  /// Whether the snapshot lists transactions of it: each has been evaluated by its id.
  private func isListed(_ lineage: LineageInput) -> Bool {
    view?.transactions.contains { self.lineage(of: $0)?.name == lineage.name } ?? false
  }

  private func isBefore(_ first: Charge, _ charge: MissingCharge) -> Bool {
    charge.code != .missedPurchase && charge.at.map { $0 <= first.time } ?? true
  }

  /// Raises the start, if it was watched; else the renewals that were, as many as are counted.
  ///
  /// Soon after the first event of the feed, the charge may have come out of a billing retry that
  /// began before it. After a change of product, the length of the period before is unknown.
  private func findChargesBefore(_ first: Charge, _ lineage: LineageInput) {
    let about = subject(lineage)
    guard let counted = first.renewalCount.map(Int64.init), counted > 0,
      isWatched(first.periodStart - rules.fold.retryHorizon, about),
      !lineage.latest.productChanges.contains(where: { $0.time <= first.time })
    else { return }
    var (number, at) = (Int64(0), first.periodStart)
    while number < counted, let begin = begin(ofPeriodBefore: at, first, lineage),
      isWatched(begin, about)
    {
      (number, at) = (number + 1, begin)
    }
    guard number > 0 else { return }
    let evidence = "the first charge that arrived, of \(first.time.text), is renewal \(counted)"
    guard number == counted else {
      return raiseRenewals(
        lineage, count: number, at: at, provenBy: .events, evidence)
    }
    // It can have begun with longer periods of another product.
    let limit = rules.firstEventAt(about).map { min($0, at - longestTrial) } ?? at
    guard !shows(lineage, begunBefore: limit) else { return counts.beforeFirstEvent += 1 }
    let product = productBegun(in: lineage, at: at)
    let money = estimate(lineage, product: product, of: .missedStart, at: at)
    raise(
      BreakDraft(
        code: .missedStart, subject: subject(lineage, product: product),
        expectedAt: at, estimate: money.amount, basis: money.basis, provenBy: .events,
        evidence: evidence + "; no start arrived"),
      for: MissingCharge(
        lineage: lineage.name, code: .missedStart, at: at, end: nil, opensLineage: true))
  }

  /// A period before `end`, which a charge like `first` paid for; nil where its length is unknown.
  private func begin(
    ofPeriodBefore end: Instant, _ first: Charge, _ lineage: LineageInput
  ) -> Instant? {
    if let length = rules.length(of: lineage.text(first.product)) {
      return length.start(before: end)
    }
    guard let paid = first.periodEnd, paid > first.periodStart else { return nil }
    return end - paid.since(first.periodStart)
  }

  /// Raises the trial start.
  ///
  /// The trial's length is unknown, so that only one that must have begun after the first event
  /// counts.
  private func findTrialBefore(_ conversion: Charge, _ lineage: LineageInput) {
    guard isWatched(conversion.periodStart - longestTrial, subject(lineage)) else { return }
    let product = lineage.text(conversion.product)
    raise(
      BreakDraft(
        code: .missedStart, subject: subject(lineage, product: product),
        expectedAt: conversion.periodStart, estimate: .zero, basis: .provider, provenBy: .events,
        evidence: "the conversion of \(conversion.time.text) follows a trial whose start never "
          + "arrived"),
      for: MissingCharge(
        lineage: lineage.name, code: .missedStart, at: conversion.periodStart, end: nil,
        isFree: true, opensLineage: true))
  }
}

private let longestTrial = Interval.days(31)
