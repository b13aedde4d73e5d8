import Subscriptions
import Domain

/// When a listed transaction happened that has no date; not every shape of snapshot sends one.
extension Reconciler {
  /// The end that it prolonged, as events or the list know it; where that lies further back than a
  /// period, a period before its own end; else when the access began that it is a part of.
  func presumedDate(of transaction: ListedTransaction, in view: SnapshotView) -> Instant? {
    let lineage = lineage(of: transaction)
    let told = lineage?.latest.charges.last { $0.transaction == transaction.key }
    if let told { return told.time }
    guard let end = transaction.expiresAt else { return transaction.startedAt }
    let listed = view.siblings(of: transaction).compactMap(\.expiresAt)
    let known = (listed + (lineage?.knownEnds ?? [])).filter { $0 < end - rules.endTolerance }
    guard let length = lineage.flatMap({ periodLength($0, $0.latest) }) else {
      return known.max() ?? transaction.startedAt.flatMap { $0 < end ? $0 : nil }
    }
    // Months differ in length, and of two missed periods nothing tells the end between them.
    let isNext = known.max().map { end.since($0).milliseconds < length.milliseconds / 2 * 3 }
    return isNext == true ? known.max() : end - length
  }
}

extension LineageInput {
  /// The ends of all periods and trials that events tell.
  var knownEnds: [Instant] {
    latest.subscriptionCharges.compactMap(\.periodEnd) + latest.trials.compactMap(\.end)
  }
}
