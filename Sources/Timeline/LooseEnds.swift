import Vocabulary

extension Life {
  /// Whether events alone prove that one never came: a refund without its charge, a trial followed
  /// by a renewal, a counter that jumps, or an end of which nothing was told.
  ///
  /// Cheap to ask of every lineage; what exactly is missing is reconciliation's to say.
  public var hasLooseEnds: Bool {
    if bookings.contains(where: { $0.isRefund && $0.refundedCharge == nil }) { return true }
    return isConversionUntold || silentEnd != nil || hasCounterJump
  }

  /// Whether a trial is followed by a counted renewal, without a conversion between them.
  private var isConversionUntold: Bool {
    guard periods.contains(where: \.isTrial), let paid = periods.first(where: { !$0.isTrial }),
      let booking = paid.booking, bookings[booking].chargeKind == .renewal
    else { return false }
    return (events[paid.opener].renewalCount ?? 0) > 0
  }

  /// The end of the last period when the calendar says that something must have followed it, and
  /// nothing did: auto-renew was on, and neither charge nor cancel, expiry, failed payment, pause
  /// or loss of access came, though the gap and the delivery window are over.
  ///
  /// Only Qonversion tells every end: FLOBUK promises none, Purple has no word for the refund of a
  /// subscription, and what iaptic's collections no longer hold was never told. A cancel of the
  /// year before counts, for a plan with a 12-month commitment renews after its cancel.
  var silentEnd: Instant? {
    guard let period = periods.last, let first = told.first, first.provider == .qonversion,
      let end = period.effectiveEnd, period.takenAway == nil, !period.isInvoluntary(events),
      !period.isPaused(events),
      end <= rules.endsAreSettled(until: Feed(provider: first.provider, app: first.app))
    else { return nil }
    let told = events[period.opener...].dropFirst().contains { explainsEnd($0.kind) }
    return told || isCommitted(before: end) ? nil : end
  }

  /// Whether auto-renew was switched off within the twelve months before `end`, for the life that
  /// ends there.
  private func isCommitted(before end: Instant) -> Bool {
    let lastSwitch = events.last {
      $0.isCancel || $0.kind == .uncanceled || $0.kind == .expired || $0.kind == .trialExpired
    }
    return lastSwitch.map { $0.isCancel && $0.time > end - .days(366) } ?? false
  }
}

/// Whether an event of this kind says why a period is followed by no other.
private func explainsEnd(_ kind: EventKind) -> Bool {
  switch kind {
  case .canceled, .trialCanceled, .expired, .trialExpired, .billingRetry, .trialBillingRetry,
    .graceEntered, .endedInvoluntarily, .revoked, .refunded:
    true
  default: false
  }
}
