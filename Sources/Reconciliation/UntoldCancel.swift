import Domain

extension Reconciler {
  /// Raises the cancel of a subscription of which no event ever came, when its date is in our time.
  ///
  /// What began before the first event of the app can still be cancelled after it. A period that
  /// ended later than the cancel has an expiry that would be missing as well, and implies it.
  mutating func raiseUntoldCancel(_ entitlement: Entitlement) {
    guard entitlement.isSubscription, entitlement.renewState == .canceled,
      let canceledAt = entitlement.autoRenewOffAt, canceledAt < knownAt,
      let newest = entitlement.newestTransaction, newest.revokedAt == nil,
      entitlement.isActive(at: knownAt) == true
        || (entitlement.expiresAt.map { $0 <= canceledAt } ?? false)
    else { return }
    let about = subject(ListedTransaction(newest, of: entitlement), nil)
    guard isWatched(canceledAt, about) else { return }
    raise(
      BreakDraft(
        code: .missedCancel, subject: about, key: .state, expectedAt: canceledAt,
        missingEvents: 1, estimate: .zero, basis: .provider, severity: .low,
        evidence: "\(told(entitlement)); auto-renew is off since \(canceledAt.text), and no event "
          + "of the subscription ever came",
        action: nextStep(.missedCancel, user.provider)))
  }
}
