import Subscriptions
import Domain

extension Reconciler {
  /// A refund proves its charge: one that never came was missed.
  func findRefundedCharges() {
    for lineage in lineagesOfAnyTime where !lineage.isHeldByAnotherUser {
      lazy var charged = Set(lineage.latest.charges.map(\.transaction))
      var evaluated: Set<Int64> = []
      for refund in lineage.latest.refunds
      where !refund.chargeIsKnown && refund.transaction != 0
        && !charged.contains(refund.transaction)
        && !lineage.latest.isReportedElsewhere(refund.transaction)
        && evaluated.insert(refund.transaction).inserted
      {
        evaluate(refund, of: lineage)
      }
    }
  }

  private func evaluate(_ refund: Refund, of lineage: LineageInput) {
    let id = lineage.transactionText(refund.transaction)
    let listed = view?.transaction(refund.transaction)
    // `TransactionCheck` has evaluated the transactions of the snapshot, with their dates.
    guard listed == nil, let first = rules.firstEventAt(subject(lineage))
    else { return }
    // When the refund does not date its charge, all we know is that the charge came before it.
    guard refund.chargedAt.map({ $0 >= first }) ?? (refund.time > first) else {
      counts.beforeFirstEvent += 1
      return
    }
    let code = code(of: refund, in: lineage)
    let charged = refund.chargedAt.map { " of \($0.text)" } ?? ""
    let at = refund.chargedAt ?? refund.time
    let product =
      lineage.productGivenBack(of: refund.transaction) ?? product(of: lineage, at: at)
    let money = estimate(of: refund.transaction, lineage, product: product, code, at: at)
    if code == .missedRenewal, let charged = refund.chargedAt {
      findRenewals(before: charged, of: id, lineage)
    }
    raise(
      BreakDraft(
        code: code, subject: subject(lineage, product: product), transaction: id,
        expectedAt: at, estimate: money.amount, basis: money.basis, provenBy: .events,
        evidence: "transaction \(id)\(charged) was refunded \(refund.time.text); its charge "
          + "never came"),
      for: MissingCharge(
        lineage: lineage.name, code: code, at: refund.chargedAt, end: nil,
        opensLineage: code == .missedStart))
  }

  /// Raises the renewals between the last known period and a charge of the subscription that was
  /// made `charged`, if nothing ended or failed between them.
  private func findRenewals(
    before charged: Instant, of id: String, _ lineage: LineageInput
  ) {
    let state = lineage.latest
    guard let last = state.subscriptionCharges.last, last.time < charged, let end = last.periodEnd,
      !state.isExpiryReported, !state.isInBillingRetry, state.reportedEnd == nil,
      let length = periodLength(lineage, state)?.milliseconds, length > 0,
      view?.transactions.contains(where: { self.lineage(of: $0)?.name == lineage.name }) != true,
      !missing(in: lineage).contains(where: { $0.at.map { $0 > last.time } ?? true })
    else { return }
    let count = (charged.since(end).milliseconds + length / 2) / length
    guard count > 0 else { return }
    raiseRenewals(
      lineage, count: count, at: end, provenBy: .events,
      "transaction \(id) was charged \(charged.text); the period before it ended \(end.text)")
  }

  private func code(of refund: Refund, in lineage: LineageInput) -> BreakCode {
    if refund.productType == .oneTime { return .missedPurchase }
    let state = lineage.latest
    let earlier = state.charges.filter { $0.time < refund.chargedAt ?? refund.time }
    if !earlier.isEmpty, earlier.allSatisfy({ $0.kind == .oneTime }) { return .missedPurchase }
    if refund.transaction == transactionKey(lineage.original) { return .missedStart }
    if earlier.isEmpty, let trial = state.trials.last(where: { $0.start < refund.time }) {
      guard let limit = trial.convertibleUntil, let at = refund.chargedAt, at > limit else {
        return .missedConversion
      }
      return .missedStart
    }
    return .missedRenewal
  }
}
