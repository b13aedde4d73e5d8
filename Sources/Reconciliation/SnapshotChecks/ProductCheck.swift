import Subscriptions
import Domain

extension Reconciler {
  /// The product of the last period, as both sides name it.
  func compareProducts(_ match: EntitlementMatch) {
    let (lineage, state) = (match.lineage, match.lineage.state)
    guard let products = storeProducts(match.entitlement.product), isOfOtherProduct(match)
    else { return }
    // A charge that is missing since the last one may be that of the change.
    let later = missing(in: lineage).filter { $0.at == nil || isAfterLastPeriod($0, state) }
    guard later.isEmpty else { return }
    // The change came, with a later time than that of the snapshot.
    if let reported = lineage.current?.product, products.contains(lineage.text(reported)) { return }
    // Refunds alone name one-time purchases, not products held before the first event.
    if hasRefundsOnly(state), !isNewestWatched(match) { return }
    let held = Set(state.charges.map { lineage.text($0.product) })
      .union(state.trials.map { lineage.text($0.product) })
    // One that came without money and without a date of its own may not be shown yet.
    let changed = held.union(
      state.unpaidChanges.flatMap { [$0.product, $0.previousProduct] }.map { lineage.text($0) })
    if !state.provider.capabilities.sendsWholeCharges, !state.unpaidChanges.isEmpty,
      !changed.isDisjoint(with: products)
    {
      return
    }
    let code: BreakCode =
      held.isDisjoint(with: products) ? .missedProductChange : .productMismatch
    raise(
      BreakDraft(
        code: code, subject: subject(lineage), key: .product(match.entitlement.product),
        expectedAt: state.lastEventAt, severity: .low,
        evidence: "events have product \(lineage.product), the snapshot shows "
          + "\(match.entitlement.product) (\(products.joined(separator: ", ")))"))
  }

  private func isNewestWatched(_ match: EntitlementMatch) -> Bool {
    let newest = match.entitlement.newestTransaction?.at ?? match.startedAt
    return newest.map { isWatched($0, subject(match.lineage)) } ?? false
  }
}
