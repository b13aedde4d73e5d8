/// What happened, in one vocabulary for all providers.
///
/// Raw values are stored in the ledger.
public enum EventKind: UInt8, NamedCode {
  /// A provider's event that the map does not know; kept, counted, without effect on metrics.
  case other = 0
  /// A period without payment began.
  case trialStarted = 1
  /// First paid period after a trial.
  case trialConverted = 2
  /// Auto-renew switched off during a trial.
  case trialCanceled = 3
  /// The payment that ends a trial failed; the store tries again.
  case trialBillingRetry = 4
  /// A trial ended without a paid period.
  case trialExpired = 5
  /// First paid period without a trial.
  case started = 6
  /// The next paid period of the same product.
  case renewed = 7
  /// A dearer product at once; the rest of the old period is refunded or set off.
  case upgraded = 8
  /// A cheaper product, as a rule from the next period on.
  case downgraded = 9
  /// A change of product in an unknown direction.
  case productChanged = 10
  /// Auto-renew switched off, or the store gave up in billing retry.
  case canceled = 11
  /// A payment failed; the store tries again, without access.
  case billingRetry = 12
  /// A paid period ended without another.
  case expired = 13
  /// Money of a subscription went back.
  case refunded = 14
  /// Something that does not renew was bought.
  case purchased = 15
  /// Money of such a purchase went back.
  case purchaseRefunded = 16
  /// Auto-renew switched on again.
  case uncanceled = 17
  /// A payment failed; access goes on while the store tries again.
  case graceEntered = 18
  /// A payment that failed earlier succeeded.
  case recovered = 19
  /// The provider reports an involuntary end.
  case endedInvoluntarily = 20
  /// The user paused; no period runs.
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

  /// The kind of charge of an event of this kind; nil for a product change, where its money
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

  /// Whether this event names a product change.
  public var isProductChange: Bool {
    switch self {
    case .upgraded, .downgraded, .productChanged: true
    default: false
    }
  }

  /// Whether this event gives money back.
  public var isRefund: Bool { self == .refunded || self == .purchaseRefunded }
}
