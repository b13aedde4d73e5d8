/// What does not agree, or never came.
///
/// Names are from the contract.
public enum BreakCode: String, CaseIterable, Codable, Sendable {
  /// A subscription or trial began without its event.
  case missedStart = "MISSED_START"
  /// A trial became paid without its event.
  case missedConversion = "MISSED_CONVERSION"
  /// A period was paid again without its event.
  case missedRenewal = "MISSED_RENEWAL"
  /// Something that does not renew was bought without its event.
  case missedPurchase = "MISSED_PURCHASE"
  /// The store took a transaction back without its event.
  case missedRefund = "MISSED_REFUND"
  /// Auto-renew was switched off without its event.
  case missedCancel = "MISSED_CANCEL"
  /// Access ended without its event.
  case missedExpiration = "MISSED_EXPIRATION"
  /// A payment failed without its event.
  case missedBillingIssue = "MISSED_BILLING_ISSUE"
  /// The product changed without its event.
  case missedProductChange = "MISSED_PRODUCT_CHANGE"
  /// Events and snapshot know the same period and differ about its end by more than 60 s.
  case expiryMismatch = "EXPIRY_MISMATCH"
  /// Events and snapshot name different products.
  case productMismatch = "PRODUCT_MISMATCH"
  /// Events and snapshot differ about auto-renew.
  case renewStateMismatch = "RENEW_STATE_MISMATCH"
  /// Events show an active subscription, the user's snapshot has no such entitlement.
  case aheadOfSnapshot = "AHEAD_OF_SNAPSHOT"
  /// An active user is not in a snapshot set that is declared complete.
  case snapshotAbsent = "SNAPSHOT_ABSENT"
  /// A snapshot user without any event, and without a transaction to name.
  case eventsAbsent = "EVENTS_ABSENT"
  /// Lines of one identity differ in a field that a report reads.
  case conflict = "CONFLICT"
  /// Money came with an event that books none.
  case unexpectedRevenue = "UNEXPECTED_REVENUE"
  /// A refund in another currency than its charge.
  case currencyMismatch = "CURRENCY_MISMATCH"
  /// Proceeds are off price × rate by more than 0.5 % and 0.01.
  case rateMismatch = "RATE_MISMATCH"
  /// A store transaction was charged more than once.
  case doubleCharge = "DOUBLE_CHARGE"
  /// Refunds give back more than their charge.
  case overRefund = "OVER_REFUND"
  /// US dollars per local unit more than 5 % from the currency's median of ± 3 days.
  case fxOutlier = "FX_OUTLIER"
  /// A renewal far off the median price of its product and off the lineage's own.
  case priceOutlier = "PRICE_OUTLIER"
  /// Arrived after an event of the lineage with a later event time.
  case outOfOrder = "OUT_OF_ORDER"
  /// Received later than the delivery window.
  case late = "LATE"
  /// Its message was made after it was received, or decades after its event.
  case clock = "CLOCK"
  /// A charge after its revocation, a refund before its charge, an end before its start.
  case impossibleSequence = "IMPOSSIBLE_SEQUENCE"
  /// One lineage in production and in the sandbox.
  case envLeak = "ENV_LEAK"
  /// A day or a run of hours of a feed brought far fewer deliveries than its past makes likely.
  case feedGap = "FEED_GAP"
  /// A feed is silent for longer than its past makes likely.
  case staleInput = "STALE_INPUT"

  /// Whether the code reports a missing event.
  public var isMissing: Bool { rawValue.hasPrefix("MISSED_") }

  /// Whether the code reports a missing charge, or a trial start.
  public var isCharge: Bool {
    [.missedStart, .missedConversion, .missedRenewal, .missedPurchase].contains(self)
  }

  /// Whether the code is about the arrival of an event that did come; `deliveries_daily` counts
  /// arrivals, also without a break.
  public var isAboutArrival: Bool { self == .late || self == .outOfOrder }
}

/// How far a break that exists has come.
public enum BreakStatus: String, CaseIterable, Codable, Sendable {
  /// The provider can still deliver; outside all gates.
  case pending
  /// The provider can no longer deliver.
  case open
  /// Nothing is left to do: the event came late or out of order, or the break only informs.
  case resolved
}

/// How much a break matters, from least to most.
public enum Severity: String, CaseIterable, Comparable, Codable, Sendable {
  case info
  case low
  case medium
  case high
  case critical

  /// Whether `left` matters less than `right`.
  public static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

  private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// A difference between received events, the current state, and the calendar.
public struct Break: Codable, Sendable, Equatable {
  /// Hash of code family, provider, app, environment, lineage, and of a missing charge its number
  /// in the subscription, so that the same loss has the same id whatever proves it.
  public var id: String
  /// What does not agree.
  public var code: BreakCode
  /// How far it has come.
  public var status = BreakStatus.open
  /// How much it matters, by the money at stake.
  public var severity = Severity.medium
  /// Whose events or snapshots it is about.
  public var provider: Provider
  /// App id as the provider writes it; empty when unknown.
  public var app = ""
  /// Whether money is concerned at all.
  public var environment = Environment.production
  /// The shop of the subscription or purchase.
  public var store = Store.unknown
  /// The key of the user (`userKeyText`); empty when unknown.
  public var user = ""
  /// Original transaction id of the lineage.
  public var subscription = ""
  /// Transaction id of the missing or doubtful event; empty when none is named.
  public var transaction = ""
  /// Store product id.
  public var product = ""
  /// Business time of the event that is missing or in doubt.
  public var expectedAt: Instant?
  /// When the provider can no longer deliver.
  public var settlesAt: Instant?
  /// When the provider's record that could still prove it is deleted; nil when unknown.
  public var evidenceExpiresAt: Instant?
  /// How many events never came; 0 if the break is not a missing event.
  public var missingEvents: Int64 = 0
  /// US dollars; negative for a missing refund; nil when no price is known.
  public var estimatedUSD: Amount?
  /// What `estimatedUSD` rests on.
  public var basis = AmountBasis.none
  /// The facts on both sides, in words.
  public var evidence = ""
  /// What a person should do next.
  public var action = ""
  /// Key of the lineage whose events alone show the break; 0 for all others.
  public var lineage: Int64 = 0

  /// A break of `code`.
  public init(id: String, code: BreakCode, provider: Provider) {
    self.id = id
    self.code = code
    self.provider = provider
  }
}
