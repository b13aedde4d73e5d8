import Vocabulary

extension Life {
  /// Whether events alone prove that a charge never came: a refund without its charge, a trial
  /// followed by a renewal, or a counter that jumps.
  ///
  /// Cheap to ask of every lineage; what exactly is missing is reconciliation's to say.
  public var hasLooseEnds: Bool {
    if bookings.contains(where: { $0.isRefund && $0.refundedCharge == nil }) { return true }
    if isConversionUntold { return true }
    let ordinals = renewalOrdinals
    var previous: Int32?
    for index in bookings.indices {
      guard let ordinal = ordinals[index] else { continue }
      if let previous, ordinal > previous + 1 { return true }
      if previous == nil, stretches.first?.opening == .new, ordinal > 1 { return true }
      previous = ordinal
    }
    return false
  }

  /// Whether a trial is followed by a counted renewal, without a conversion between them.
  private var isConversionUntold: Bool {
    guard periods.contains(where: \.isTrial), let paid = periods.first(where: { !$0.isTrial }),
      let booking = paid.booking, bookings[booking].chargeKind == .renewal
    else { return false }
    return (events[paid.opener].renewalCount ?? 0) > 0
  }
}
