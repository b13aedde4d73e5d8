import Subscriptions
import Domain

/// What a missing transaction would have been.
extension Reconciler {
  /// The transaction as a trial where its shape has no types, and a conversion was reported at its
  /// end.
  func typed(_ transaction: ListedTransaction, _ lineage: LineageInput?) -> ListedTransaction {
    guard transaction.kind == .unknown, let end = transaction.expiresAt, let lineage else {
      return transaction
    }
    let gap = rules.fold.renewalGap
    let isConverted = lineage.latest.charges.contains {
      $0.kind == .conversion && $0.periodStart >= end - gap && $0.periodStart <= end + gap
    }
    guard isConverted else { return transaction }
    var trial = transaction
    trial.kind = .free
    return trial
  }

  func code(
    of transaction: ListedTransaction, _ lineage: LineageInput?, in view: SnapshotView
  ) -> BreakCode {
    let siblings = view.siblings(of: transaction)
    let isPaidBefore = !isFirstPaid(transaction, lineage, in: view)
    // The first payment after a trial is its conversion, though some lists call it a renewal.
    let converts = !isPaidBefore && converts(transaction, lineage, siblings)
    switch transaction.kind {
    case .oneTime: return .missedPurchase
    case .trialStarted, .free: return .missedStart
    case .renewed, .introRenewed: return converts ? .missedConversion : .missedRenewal
    case .started, .introStarted: break
    case .unknown:
      let renews =
        transaction.expiresAt != nil || lineage?.latest.isSubscription == true
        || siblings.contains { $0.expiresAt != nil }
      if !renews { return .missedPurchase }
      if isPaidBefore { return .missedRenewal }
    }
    return converts ? .missedConversion : .missedStart
  }

  /// Whether it is the first payment of its subscription in list and events.
  func isFirstPaid(
    _ transaction: ListedTransaction, _ lineage: LineageInput?, in view: SnapshotView
  ) -> Bool {
    let siblings = view.siblings(of: transaction)
    // What a list calls a start is one, though it may be a new one.
    if transaction.kind == .unknown, transaction.expiresAt != nil,
      isOfEarlierSubscription(transaction, lineage, siblings)
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

  /// Whether its id, which is not the original one, proves something before it, and no trial is.
  func isOfEarlierSubscription(
    _ transaction: ListedTransaction, _ lineage: LineageInput?, _ siblings: [ListedTransaction]
  ) -> Bool {
    transaction.store.startsWithOriginal && transaction.id != transaction.original
      && lineage?.latest.trials.isEmpty ?? true && !siblings.contains(where: \.isTrial)
  }

  /// Whether it follows a trial within the gap or out of billing retry.
  ///
  /// A later purchase is a new start. Where no trial start was reported, none of its failed
  /// payments is known either.
  private func converts(
    _ transaction: ListedTransaction, _ lineage: LineageInput?, _ siblings: [ListedTransaction]
  ) -> Bool {
    let reported = lineage?.latest.trials.last { isBefore($0.start, transaction) }
    if let reported { return isBy(reported.convertibleUntil, transaction) }
    let listed = siblings.last { $0.isTrial && $0.precedes(transaction) }
    guard let listed else { return false }
    return isBy(listed.expiresAt.map { $0 + rules.fold.renewalGap }, transaction)
  }

  private func isBy(_ limit: Instant?, _ transaction: ListedTransaction) -> Bool {
    guard let limit, let at = transaction.at else { return true }
    return at <= limit
  }

  private func isBefore(_ instant: Instant, _ transaction: ListedTransaction) -> Bool {
    transaction.at.map { instant < $0 } ?? true
  }
}
