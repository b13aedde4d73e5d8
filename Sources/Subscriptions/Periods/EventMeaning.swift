import Domain

// Properties of events that the fold reads. `EventKind` has the kinds themselves; properties that
// only one pass reads are beside that pass.

extension Event {
  var feed: Feed { Feed(provider: provider, app: app) }

  /// Whether revenue on this event is a refund; for a product change, the data's sign decides.
  var isRefundBooking: Bool { kind.isRefund || (kind.isProductChange && revenueIsNegative) }

  /// The kind of charge of this event; nil if it is not a charge.
  var chargeKind: ChargeKind? {
    guard kind.isProductChange else { return kind.chargeKind }
    if isUpgradeAtListPrice { return .productChange }
    return revenue != nil && !revenueIsNegative ? .productChange : nil
  }

  /// Whether the event is an upgrade in the App Store, which charges for the new product at once,
  /// of a provider that sends no money.
  ///
  /// What the store credits for the rest of the old period is unknown.
  private var isUpgradeAtListPrice: Bool {
    kind == .upgraded && provider.capabilities.body == .event && !provider.capabilities.sendsMoney
      && (store == .appStore || store == .macAppStore)
  }

  /// The sign of both amounts: that in US dollars has it, unless it is none or zero.
  private var revenueIsNegative: Bool {
    guard let revenue else { return false }
    let usd = revenue.usd ?? .zero
    return (usd == .zero ? revenue.local ?? .zero : usd) < .zero
  }

  /// Whether a reported event is a charge or starts a trial.
  var opensPurchase: Bool {
    kind != .observed && (chargeKind != nil || kind == .trialStarted)
  }

  /// Whether a reported event charges for a subscription or starts a trial.
  var opensSubscription: Bool { opensPurchase && kind != .purchased }
}

extension Event {
  /// Whether the event moves to another product at once without a charge.
  ///
  /// Purple's upgrades outside the App Store do, where the charge depends on settings that no event
  /// contains. A downgrade begins after the period that is paid for.
  var changesProductUnpaid: Bool {
    provider.capabilities.body == .event && !provider.capabilities.sendsWholeCharges
      && kind.isProductChange && kind != .downgraded
      && chargeKind == nil && !isRefundBooking
  }

  /// Whether the event names a change of product that takes effect at the next renewal.
  var isAnnouncement: Bool {
    kind.isProductChange && chargeKind == nil && !isRefundBooking && !changesProductUnpaid
  }

  /// The previous product of a change of product, if reported and different.
  var productLeft: StringID? {
    kind.isProductChange && ![0, product].contains(previousProduct) ? previousProduct : nil
  }
}

extension Event {
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
}

extension Event {
  /// Whether the event reports that a purchase ran out.
  var isExpiry: Bool {
    switch kind {
    case .expired, .trialExpired, .endedInvoluntarily: true
    default: false
    }
  }

  var isEnd: Bool { isExpiry || kind == .revoked || kind == .refunded }

  /// Whether the event reports the end of a period; also that the store gave up collecting, where
  /// ends are not always sent.
  var hasEnd: Bool {
    switch kind {
    case .expired, .trialExpired: true
    case .endedInvoluntarily: !provider.capabilities.sendsWholeCharges
    default: false
    }
  }

  /// The end of the period in the event; nil where the event sends its own time instead, as refunds
  /// and changes of product do.
  var reportedPeriodEnd: Instant? {
    isRefundBooking || (kind.isProductChange && periodEnd == time) ? nil : periodEnd
  }

  /// The end of grace, also if it is the end in an entry into grace.
  var endOfGrace: Instant? {
    graceEnd ?? (kind == .graceEntered && !provider.capabilities.sendsGraceEnds ? periodEnd : nil)
  }
}

extension EventKind {
  /// Whether only something that renews has such an event.
  var isAboutSubscription: Bool {
    switch self {
    case .other, .observed, .purchased, .purchaseRefunded: false
    default: true
    }
  }
}
