import Subscriptions
import Domain

/// Orders that Play declined, which are listed like those that were charged.
extension Reconciler {
  /// Whether a listed order was declined: what it belongs to waits for a payment or gives no
  /// access, and its end is still that of the period before it, or that of a grace.
  ///
  /// iaptic shows the last order of a subscription, be it charged, pending or declined.
  func isDeclined(_ transaction: ListedTransaction, _ lineage: LineageInput?) -> Bool {
    guard user.provider.capabilities.body == .collection, transaction.store == .playStore,
      transaction.kind != .oneTime, transaction.id != transaction.original,
      transaction.isFailing || transaction.isOver, let state = lineage?.latest,
      let end = transaction.expiresAt, let known = state.periodEnd
    else { return false }
    let gap = rules.fold.renewalGap
    if let charged = transaction.dateSent, charged >= known - gap { return false }
    if end <= max(known + gap, state.effectiveEnd ?? known) { return true }
    guard transaction.isFailing, let length = lineage.flatMap({ periodLength($0, state) }) else {
      return false
    }
    return end.since(known).milliseconds < length.milliseconds / 10 * 9
  }
}
