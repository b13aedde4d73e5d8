/// What does not agree, or never came. Names are those of the contract.
public enum BreakCode: String, CaseIterable, Sendable {
  case missedStart = "MISSED_START"
  case missedConversion = "MISSED_CONVERSION"
  case missedRenewal = "MISSED_RENEWAL"
  case missedPurchase = "MISSED_PURCHASE"
  case missedRefund = "MISSED_REFUND"
  case missedCancel = "MISSED_CANCEL"
  case missedExpiration = "MISSED_EXPIRATION"
  case missedBillingIssue = "MISSED_BILLING_ISSUE"
  case missedProductChange = "MISSED_PRODUCT_CHANGE"
  case expiryMismatch = "EXPIRY_MISMATCH"
  case productMismatch = "PRODUCT_MISMATCH"
  case renewStateMismatch = "RENEW_STATE_MISMATCH"
  case aheadOfSnapshot = "AHEAD_OF_SNAPSHOT"
  case snapshotAbsent = "SNAPSHOT_ABSENT"
  case eventsAbsent = "EVENTS_ABSENT"
  case conflict = "CONFLICT"
  case unexpectedRevenue = "UNEXPECTED_REVENUE"
  case currencyMismatch = "CURRENCY_MISMATCH"
  case rateMismatch = "RATE_MISMATCH"
  case fxOutlier = "FX_OUTLIER"
  case outOfOrder = "OUT_OF_ORDER"
  case late = "LATE"
  case impossibleSequence = "IMPOSSIBLE_SEQUENCE"
  case envLeak = "ENV_LEAK"
  case staleInput = "STALE_INPUT"

  /// Whether the code says that an event never came.
  public var isMissing: Bool { rawValue.hasPrefix("MISSED_") }
}

/// How far a break has come.
public enum BreakStatus: String, CaseIterable, Sendable {
  /// The provider can still deliver; outside all gates.
  case pending
  case open
  case resolved
}

/// How much a break matters.
public enum Severity: String, CaseIterable, Sendable {
  case info
  case low
  case medium
  case high
  case critical
}

/// A difference between what we were told, what is true now, and what the calendar expects.
public struct Break: Sendable, Equatable {
  /// Hash of code family, provider, app, environment, lineage, and transaction or ordinal; stable
  /// across runs.
  public var id: String
  public var code: BreakCode
  public var status = BreakStatus.open
  public var severity = Severity.medium
  public var provider: Provider
  public var app = ""
  public var environment = Environment.production
  public var store = Store.unknown
  public var user = ""
  /// Original transaction id of the lineage.
  public var subscription = ""
  public var transaction = ""
  /// Store product id.
  public var product = ""
  /// Business time of the event that is missing or in doubt.
  public var expectedAt: Instant?
  /// When the provider can no longer deliver.
  public var settlesAt: Instant?
  public var evidenceExpiresAt: Instant?
  public var missingEvents: Int64 = 0
  /// US dollars; negative for a missing refund; nil when no price is known.
  public var estimatedUSD: Amount?
  public var basis = AmountBasis.none
  /// The facts on both sides, in words.
  public var evidence = ""
  /// What a person should do next.
  public var action = ""

  /// A break of `code`.
  public init(id: String, code: BreakCode, provider: Provider) {
    self.id = id
    self.code = code
    self.provider = provider
  }
}
