import Subscriptions
import Domain

extension Reconciler {
  /// Every revoked transaction needs its refund.
  func findMissingRefunds() {
    for transaction in view?.transactions ?? []
    where transaction.revokedAt != nil && !transaction.isTrial {
      evaluate(transaction, of: lineage(of: transaction))
    }
  }

  private func evaluate(
    _ transaction: ListedTransaction, of lineage: LineageInput?
  ) {
    guard let revokedAt = transaction.revokedAt, !reported.refunds.contains(transaction.key),
      !reported.revoked.contains(transaction.key)
    else { return }
    let about = subject(transaction, lineage)
    let name = lineageName(of: transaction, lineage, about)
    let ended: Set = isOfOlderPeriod(transaction, in: lineage) ? [] : [name]
    guard revokedAt < rules.fold.asOf else { return missedRefunds.formUnion(ended) }
    // An event that the provider has no name for was never sent.
    guard
      user.provider.capabilities.sendsRefunds(
        of: transaction.kind == .oneTime ? .oneTime : .subscription)
    else {
      counts.refundsNeverTold += 1
      return missedRefunds.formUnion(ended)
    }
    guard isWatched(revokedAt, about) else {
      counts.beforeFirstEvent += 1
      return
    }
    var draft = BreakDraft(
      code: .missedRefund, subject: about, key: .transaction(transaction.id),
      transaction: transaction.id, expectedAt: revokedAt,
      evidence: "the snapshot lists transaction \(transaction.id) as revoked "
        + "\(revokedAt.text); no refund event of it came")
    if let lineage {
      let charge = lineage.latest.charges.last { $0.transaction == transaction.key }
      let usual = estimate(lineage, product: about.product)
      draft.estimate = (charge?.grossUSD ?? usual.amount).map { -$0 }
      draft.basis = charge?.grossUSD == nil ? usual.basis : charge?.basis ?? .none
    }
    missedRefunds.formUnion(ended)
    raise(draft, in: name)
  }

  /// Whether another charge of the subscription came after the transaction, so that its refund is
  /// money only.
  private func isOfOlderPeriod(
    _ transaction: ListedTransaction, in lineage: LineageInput?
  ) -> Bool {
    guard let charges = lineage?.latest.subscriptionCharges, let last = charges.last else {
      return false
    }
    if charges.contains(where: { $0.transaction == transaction.key }) {
      return last.transaction != transaction.key
    }
    return transaction.dateSent.map { $0 < last.time } ?? false
  }
}
