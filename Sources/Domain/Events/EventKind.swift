/// What happened, in one vocabulary for all providers.
///
/// Raw values are stored in the ledger.
public enum EventKind: UInt8, NamedCode {
  /// An event with a name that has no mapping; kept and counted, without effect on metrics.
  case other = 0
  /// A period without payment started.
  case trialStarted = 1
  /// First paid period after a trial.
  case trialConverted = 2
  /// Auto-renew switched off during a trial.
  case trialCanceled = 3
  /// The payment at the end of a trial failed; the store tries again.
  case trialBillingRetry = 4
  /// A trial ended without a paid period.
  case trialExpired = 5
  /// First paid period without a trial.
  case started = 6
  /// The next paid period of the same product.
  case renewed = 7
  /// A move to a more expensive product at once; the rest of the old period is refunded or
  /// credited.
  case upgraded = 8
  /// A move to a cheaper product, usually from the next period on.
  case downgraded = 9
  /// A product change in an unknown direction.
  case productChanged = 10
  /// Auto-renew switched off, or the store gave up in billing retry.
  case canceled = 11
  /// A payment failed; the store tries again, without access.
  case billingRetry = 12
  /// A paid period ended and no other followed.
  case expired = 13
  /// Money of a subscription was refunded.
  case refunded = 14
  /// A one-time product was bought.
  case purchased = 15
  /// Money of a one-time purchase was refunded.
  case purchaseRefunded = 16
  /// Auto-renew switched on again.
  case uncanceled = 17
  /// A payment failed; access continues while the store tries again.
  case graceEntered = 18
  /// A payment that failed earlier succeeded.
  case recovered = 19
  /// The provider reports an involuntary end.
  case endedInvoluntarily = 20
  /// The user paused; there is no current period.
  case paused = 21
  /// A pause ended.
  case resumed = 22
  /// Access was revoked, without information about money.
  case revoked = 23
  /// A paid period after a lapse.
  case resubscribed = 24
  /// The store moved a period's end without a charge.
  case extended = 25
  /// A state, not an event: the fold compares it with the lineage's other states.
  case observed = 26

  /// The kind of charge that an event of this kind is; nil for a product change, where the money
  /// decides.
  public var chargeKind: ChargeKind? {
    switch self {
    case .started, .resubscribed: .first
    case .trialConverted: .conversion
    case .renewed, .recovered: .renewal
    case .purchased: .oneTime
    default: nil
    }
  }

  /// Whether this event reports a product change.
  public var isProductChange: Bool {
    switch self {
    case .upgraded, .downgraded, .productChanged: true
    default: false
    }
  }

  /// Whether only subscriptions have such an event.
  public var isAboutSubscription: Bool {
    switch self {
    case .other, .observed, .purchased, .purchaseRefunded: false
    default: true
    }
  }

  /// Whether this event is a refund.
  public var isRefund: Bool { self == .refunded || self == .purchaseRefunded }
}
