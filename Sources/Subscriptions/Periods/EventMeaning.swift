import Domain

// What the fold reads in an event. The kinds themselves stand in `EventKind`; whatever only one
// pass asks stands beside that pass.

extension Event {
  /// Whether revenue on this event gives money back; for a product change, the data's sign says.
  var isRefundBooking: Bool { kind.isRefund || (kind.isProductChange && revenueIsNegative) }

  /// The step in a life that this event charges for, nil when it charges for nothing.
  var chargeKind: ChargeKind? {
    guard kind.isProductChange else { return kind.chargeKind }
    return revenue != nil && !revenueIsNegative ? .productChange : nil
  }

  /// The sign of both amounts: that in US dollars has it, unless it is none or zero.
  private var revenueIsNegative: Bool {
    guard let revenue else { return false }
    let usd = revenue.usd ?? .zero
    return (usd == .zero ? revenue.local ?? .zero : usd) < .zero
  }

  /// Whether a told event charges for something or starts a trial.
  var opensPurchase: Bool {
    kind != .observed && (chargeKind != nil || kind == .trialStarted)
  }

  /// Whether a told event charges for a subscription or starts a trial.
  var opensSubscription: Bool { opensPurchase && kind != .purchased }
}

extension Event {
  /// Whether the event moves to another product at once and says nothing of money: Purple, whose
  /// events come without amounts, dates the change itself.
  var changesProductUnpaid: Bool {
    provider.capabilities.body == .event && !provider.capabilities.sendsWholeCharges
      && kind.isProductChange
      && chargeKind == nil && !isRefundBooking
  }

  /// Whether the event names a change of product that takes effect at the next renewal.
  var isAnnouncement: Bool {
    kind.isProductChange && chargeKind == nil && !isRefundBooking && !changesProductUnpaid
  }

  /// The product that a change of product was made from, where it is told and another one.
  var productLeft: StringID? {
    kind.isProductChange && ![0, product].contains(previousProduct) ? previousProduct : nil
  }
}

extension Event {
  /// Whether the event switches auto-renew off.
  var isCancel: Bool { kind == .canceled || kind == .trialCanceled }

  /// Whether the event says that a payment is failing or that grace was granted.
  var isBillingProblem: Bool {
    switch kind {
    case .billingRetry, .trialBillingRetry, .graceEntered, .endedInvoluntarily: true
    default: reason == .involuntary
    }
  }

  /// Whether the event speaks of a running trial.
  var isOfTrial: Bool { [.trialCanceled, .trialBillingRetry, .trialExpired].contains(kind) }
}

extension Event {
  /// Whether the event tells that a purchase ran out.
  var isExpiry: Bool {
    switch kind {
    case .expired, .trialExpired, .endedInvoluntarily: true
    default: false
    }
  }

  /// Whether the event ends a purchase.
  var isEnd: Bool { isExpiry || kind == .revoked || kind == .refunded }

  /// Whether the event says that a period is over; what says that the store gave up does where the
  /// end itself is not always sent.
  var tellsEnd: Bool {
    switch kind {
    case .expired, .trialExpired: true
    case .endedInvoluntarily: !provider.capabilities.sendsWholeCharges
    default: false
    }
  }

  /// The end of the period as the event tells it; nil where it sends its own time in its place, as
  /// refunds and changes of product do.
  var toldPeriodEnd: Instant? {
    isRefundBooking || (kind.isProductChange && periodEnd == time) ? nil : periodEnd
  }

  /// The end of grace, also where it is the end that an entry into grace tells.
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
