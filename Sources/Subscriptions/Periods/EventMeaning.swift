public import Domain

// Properties of events that the fold reads. `EventKind` has the kinds; properties that only one
// pass reads are in that pass's file.

extension Event {
  /// Its kind and time, as findings name it.
  public var kindAndTime: String { "\(kind.name) of \(time.text)" }

  /// Whether its revenue is a refund; for a product change, the sign of the amount decides.
  var isRefundBooking: Bool { kind.isRefund || (kind.isProductChange && revenueIsNegative) }

  /// The kind of charge of this event; nil if it is not a charge.
  var chargeKind: ChargeKind? {
    guard kind.isProductChange else { return kind.chargeKind }
    if isUpgradeAtListPrice { return .productChange }
    return revenue != nil && !revenueIsNegative ? .productChange : nil
  }

  /// Whether it is an App Store upgrade, charged at once, from a provider that sends no money.
  ///
  /// The store's credit for the rest of the old period is unknown.
  private var isUpgradeAtListPrice: Bool {
    kind == .upgraded && provider.capabilities.body == .event && !provider.capabilities.sendsMoney
      && store.isApple
  }

  /// Whether revenue is negative; the US dollar amount decides unless it is missing or zero.
  private var revenueIsNegative: Bool {
    guard let revenue else { return false }
    let usd = revenue.usd ?? .zero
    return (usd == .zero ? revenue.local ?? .zero : usd) < .zero
  }

  /// Whether a reported event is a charge or starts a trial.
  var opensPurchase: Bool { chargeKind != nil || kind == .trialStarted }

  /// Whether a reported event charges for a subscription or starts a trial.
  var opensSubscription: Bool { opensPurchase && kind != .purchased }

  /// Whether the event changes the product at once without a charge.
  ///
  /// Purple's upgrades outside the App Store do, because their charge depends on settings that are
  /// not in events. A downgrade takes effect after the paid period.
  var changesProductUnpaid: Bool {
    provider.capabilities.body == .event && !provider.capabilities.sendsWholeCharges
      && kind.isProductChange && kind != .downgraded
      && chargeKind == nil && !isRefundBooking
  }

  /// Whether the event announces a product change for the next renewal.
  var isAnnouncement: Bool {
    kind.isProductChange && chargeKind == nil && !isRefundBooking && !changesProductUnpaid
  }

  /// The previous product in a product change, if reported and different.
  var productLeft: StringID? {
    kind.isProductChange && ![0, product].contains(previousProduct) ? previousProduct : nil
  }

  /// Whether the event switches auto-renew off.
  var isCancel: Bool { kind == .canceled || kind == .trialCanceled }

  /// Whether the event reports that auto-renew was switched off or on again.
  var switchesAutoRenew: Bool { isCancel || kind == .uncanceled }

  /// Whether the event reports a failing payment or grace.
  var isBillingProblem: Bool {
    switch kind {
    case .billingRetry, .trialBillingRetry, .graceEntered, .endedInvoluntarily: true
    default: reason == .involuntary
    }
  }

  var isOfTrial: Bool { [.trialCanceled, .trialBillingRetry, .trialExpired].contains(kind) }

  /// Whether the event reports the end of a purchase.
  var isExpiry: Bool {
    switch kind {
    case .expired, .trialExpired, .endedInvoluntarily: true
    default: false
    }
  }

  /// Whether the store gave up a failed payment: some providers send no more than a cancel.
  var endsCollection: Bool {
    isExpiry || isCancel && !provider.capabilities.sendsInvoluntaryEnds
  }

  var isEnd: Bool { isExpiry || kind == .revoked || kind == .refunded }

  /// Whether the event reports the end of a period; also that the store gave up collecting, if the
  /// provider does not always send ends.
  var hasEnd: Bool {
    switch kind {
    case .expired, .trialExpired: true
    case .endedInvoluntarily: !provider.capabilities.sendsWholeCharges
    default: false
    }
  }

  /// The period end in the event; nil if it is the event's time, as in refunds and product changes.
  var reportedPeriodEnd: Instant? {
    isRefundBooking || (kind.isProductChange && periodEnd == time) ? nil : periodEnd
  }

  /// The end of grace, also if it is sent as the period end when grace begins.
  var endOfGrace: Instant? {
    graceEnd ?? (kind == .graceEntered && !provider.capabilities.sendsGraceEnds ? periodEnd : nil)
  }
}
