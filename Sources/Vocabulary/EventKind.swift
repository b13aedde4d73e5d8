/// What happened, in one vocabulary for all providers. Raw values are stored in the ledger.
public enum EventKind: UInt8, CaseIterable, Sendable {
  /// A provider's event that the map does not know; kept, counted, without effect on metrics.
  case other = 0
  case trialStarted = 1
  /// First paid period after a trial.
  case trialConverted = 2
  /// Auto-renew switched off during a trial.
  case trialCanceled = 3
  case trialBillingRetry = 4
  case trialExpired = 5
  /// First paid period without a trial.
  case started = 6
  case renewed = 7
  case upgraded = 8
  case downgraded = 9
  case productChanged = 10
  /// Auto-renew switched off, or the store gave up in billing retry.
  case canceled = 11
  case billingRetry = 12
  case expired = 13
  case refunded = 14
  case purchased = 15
  case purchaseRefunded = 16
  /// Auto-renew switched on again.
  case uncanceled = 17
  case graceEntered = 18
  /// A payment that failed earlier succeeded.
  case recovered = 19
  /// The provider says that the end was involuntary.
  case endedInvoluntarily = 20
  case paused = 21
  case resumed = 22
  /// Access was taken away without a statement about money.
  case revoked = 23
  /// A paid period after a lapse.
  case resubscribed = 24
  /// The store moved a period's end without a charge.
  case extended = 25
  /// A state, not an event: the fold compares it with the lineage's other states.
  case observed = 26

  /// The word that reports, configuration and messages use.
  public var name: String {
    switch self {
    case .other: "other"
    case .trialStarted: "trial_started"
    case .trialConverted: "trial_converted"
    case .trialCanceled: "trial_canceled"
    case .trialBillingRetry: "trial_billing_retry"
    case .trialExpired: "trial_expired"
    case .started: "started"
    case .renewed: "renewed"
    case .upgraded: "upgraded"
    case .downgraded: "downgraded"
    case .productChanged: "product_changed"
    case .canceled: "canceled"
    case .billingRetry: "billing_retry"
    case .expired: "expired"
    case .refunded: "refunded"
    case .purchased: "purchased"
    case .purchaseRefunded: "purchase_refunded"
    case .uncanceled: "uncanceled"
    case .graceEntered: "grace_entered"
    case .recovered: "recovered"
    case .endedInvoluntarily: "ended_involuntarily"
    case .paused: "paused"
    case .resumed: "resumed"
    case .revoked: "revoked"
    case .resubscribed: "resubscribed"
    case .extended: "extended"
    case .observed: "observed"
    }
  }

  /// The kind that `name` stands for, when there is one.
  public init?(name: String) {
    guard let match = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = match
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
