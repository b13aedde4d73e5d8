import Domain
import Subscriptions

extension Reconciler {
  /// Finds listed transactions without their charge or trial start.
  func findMissingTransactions() {
    for transaction in view.transactions {
      let lineage = lineage(of: transaction)
      if reported.covers(transaction, within: gap) || isChargedUnnamed(transaction, lineage)
        || isDeclined(transaction, lineage)
      {
        continue
      }
      evaluate(listed: typed(transaction, lineage), of: lineage)
    }
  }

  private func evaluate(listed transaction: ListedTransaction, of lineage: LineageInput?) {
    let about = subject(transaction, lineage)
    let code = code(of: transaction, lineage)
    let isFirst = siblings(of: transaction).first.map { !$0.precedes(transaction) } ?? true
    let charge = MissingCharge(
      code: code, at: transaction.at, end: transaction.expiresAt,
      isFree: transaction.isTrial && code == .missedStart,
      opensLineage: !isOfEarlierSubscription(transaction, lineage)
        && (isFirst || isFirstPaid(transaction, lineage)))
    let name = lineageName(of: transaction, lineage, about)
    // Events at as-of or later cannot be known yet; the charge explains what else is shown.
    if let at = transaction.at, at >= rules.fold.asOf { return expect(charge, of: name) }
    if let at = transaction.at ?? transaction.expiresAt, !isWatched(at, about) {
      return omit(.beforeFirstEvent)
    }
    raise(
      BreakDraft(
        code: code, subject: about, transaction: transaction.id, expectedAt: transaction.at,
        worth: transaction.isTrial ? nothing : worth(of: transaction, lineage, about, code),
        evidence: evidence(transaction, lineage)), for: charge, of: name)
    // Events of another subscription of the entitlement do not show the charge again.
    if let own = lineage?.name, own != name { expect(charge, of: own) }
  }

  /// The amount of a listed charge that did not arrive.
  private func worth(
    of transaction: ListedTransaction, _ lineage: LineageInput?, _ about: BreakSubject,
    _ code: BreakCode
  ) -> Worth {
    if let price = price(of: transaction) { return (price, .provider) }
    guard let lineage else {
      return transaction.isOffer ? (nil, .none) : estimate(of: about, at: transaction.at ?? knownAt)
    }
    return estimate(
      of: transaction.key, lineage, product: about.product, code, at: transaction.at,
      isOffer: transaction.isOffer)
  }

  /// Whether its subscription was charged at its time by an event without transaction id, as
  /// iaptic's first generation sends it.
  private func isChargedUnnamed(
    _ transaction: ListedTransaction, _ lineage: LineageInput?
  ) -> Bool {
    guard let at = transaction.at, let lineage else { return false }
    return lineage.latest.charges.contains { charge in
      charge.transaction == 0 && charge.time.isWithin(gap, of: at)
        && [lineage.text(charge.product), ""].contains(transaction.product)
    }
  }

  /// Whether a listed order was declined: its purchase awaits a payment or gives no access, and its
  /// end is still that of the previous period or of a grace period.
  ///
  /// iaptic shows the last order of a subscription, whether charged, pending or declined.
  private func isDeclined(_ transaction: ListedTransaction, _ lineage: LineageInput?) -> Bool {
    guard capabilities.body == .collection, transaction.store == .playStore,
      transaction.kind != .oneTime, transaction.id != transaction.original,
      transaction.isFailing || transaction.isOver, let state = lineage?.latest,
      let end = transaction.expiresAt, let known = state.periodEnd
    else { return false }
    if let charged = transaction.dateSent, charged >= known - gap { return false }
    if end <= max(known + gap, state.effectiveEnd ?? known) { return true }
    guard transaction.isFailing, let length = periodLength(state) else { return false }
    return end.since(known).milliseconds < length.milliseconds / 10 * 9
  }

  private func evidence(_ transaction: ListedTransaction, _ lineage: LineageInput?) -> String {
    let date = transaction.at.map { " of \($0.text)" } ?? ""
    let revoked = transaction.revokedAt.map { ", revoked \($0.text)" } ?? ""
    let here = "the snapshot lists transaction \(transaction.id)\(date)\(revoked)"
    guard let lineage else { return here + "; no event of its subscription ever arrived" }
    let carried = lineage.latest.transactions.contains(transaction.key)
    let there = carried ? "events carry its id, but none is its charge" : "no event carries its id"
    let charges = counted(lineage.latest.charges.count, "charge")
    return "\(here); \(there); \(charges) of the subscription arrived"
  }

  /// Finds revoked transactions without their refund.
  func findMissingRefunds() {
    for transaction in view.transactions
    where transaction.revokedAt != nil && !transaction.isTrial {
      let lineage = lineage(of: transaction)
      // A list without types shows a trial like a charge.
      let isTrial = lineage?.latest.trials.contains { $0.transaction == transaction.key } ?? false
      if !isTrial { evaluate(revoked: transaction, of: lineage) }
    }
  }

  private func evaluate(revoked transaction: ListedTransaction, of lineage: LineageInput?) {
    guard let revokedAt = transaction.revokedAt, !reported.takenBack.contains(transaction.key)
    else { return }
    let about = subject(transaction, lineage)
    let name = lineageName(of: transaction, lineage, about)
    let ended: Set = isOfOlderPeriod(transaction, in: lineage) ? [] : [name]
    guard revokedAt < rules.fold.asOf else { return missedRefunds.formUnion(ended) }
    // The provider has no event for it, so none was sent.
    let type: ProductType = transaction.kind == .oneTime ? .oneTime : .subscription
    guard capabilities.sendsRefunds(of: type) else {
      omit(.refundsNotSent)
      return missedRefunds.formUnion(ended)
    }
    guard isWatched(revokedAt, about) else { return omit(.beforeFirstEvent) }
    var draft = BreakDraft(
      code: .missedRefund, subject: about, key: .transaction(transaction.id),
      transaction: transaction.id, expectedAt: revokedAt,
      evidence: "the snapshot lists transaction \(transaction.id) as revoked "
        + "\(revokedAt.text); no refund event of it arrived")
    let charge = lineage?.latest.charges.last { $0.transaction == transaction.key }
    let worth =
      charge?.price.usd.map { ($0, charge?.basis ?? .none) }
      ?? worth(of: transaction, lineage, about, code(of: transaction, lineage))
    draft.worth = (worth.amount.map { -$0 }, worth.basis)
    missedRefunds.formUnion(ended)
    raise(draft, in: name)
  }

  /// Whether another charge followed the transaction, so that its refund is only money.
  private func isOfOlderPeriod(
    _ transaction: ListedTransaction, in lineage: LineageInput?
  ) -> Bool {
    let isFollowed = siblings(of: transaction).contains {
      $0.kind != .oneTime && transaction.precedes($0)
    }
    if isFollowed { return true }
    guard let charges = lineage?.latest.subscriptionCharges, let last = charges.last else {
      return false
    }
    if charges.contains(where: { $0.transaction == transaction.key }) {
      return last.transaction != transaction.key
    }
    return transaction.dateSent.map { $0 < last.time } ?? false
  }
}
