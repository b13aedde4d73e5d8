/// A kind of difference or missing event; names are those of the contract.
public enum BreakCode: String, CaseIterable, Codable, Sendable {
  /// A subscription or trial began without its event.
  case missedStart = "MISSED_START"
  /// A trial became paid without its event.
  case missedConversion = "MISSED_CONVERSION"
  /// A period was paid again without its event.
  case missedRenewal = "MISSED_RENEWAL"
  /// A one-time product was bought without its event.
  case missedPurchase = "MISSED_PURCHASE"
  /// The store revoked a transaction without its event.
  case missedRefund = "MISSED_REFUND"
  /// Auto-renew was switched off without its event.
  case missedCancel = "MISSED_CANCEL"
  /// Access ended without its event.
  case missedExpiration = "MISSED_EXPIRATION"
  /// A payment failed without its event.
  case missedBillingIssue = "MISSED_BILLING_ISSUE"
  /// The product changed without its event.
  case missedProductChange = "MISSED_PRODUCT_CHANGE"
  /// Events and snapshot have the same period, but its ends differ by more than 60 s.
  case expiryMismatch = "EXPIRY_MISMATCH"
  /// Events and snapshot name different products.
  case productMismatch = "PRODUCT_MISMATCH"
  /// Events and snapshot disagree about auto-renew.
  case renewStateMismatch = "RENEW_STATE_MISMATCH"
  /// Events show an active subscription, but the user's snapshot has no such entitlement.
  case aheadOfSnapshot = "AHEAD_OF_SNAPSHOT"
  /// An active user is missing from a snapshot set that is declared complete.
  case snapshotAbsent = "SNAPSHOT_ABSENT"
  /// A snapshot user has no events, and the snapshot lists no transaction to report as missing.
  case eventsAbsent = "EVENTS_ABSENT"
  /// Copies of one event differ in a field that a report reads.
  case conflict = "CONFLICT"
  /// An event has an amount although its kind books no money.
  case unexpectedRevenue = "UNEXPECTED_REVENUE"
  /// A refund in another currency than its charge.
  case currencyMismatch = "CURRENCY_MISMATCH"
  /// Proceeds differ from price × rate by more than 0.5 % and 0.01.
  case rateMismatch = "RATE_MISMATCH"
  /// A store transaction was charged more than once.
  case doubleCharge = "DOUBLE_CHARGE"
  /// Refunds give back more than their charge.
  case overRefund = "OVER_REFUND"
  /// US dollars per local unit differ by more than 5 % from the currency's median over ± 3 days.
  case fxOutlier = "FX_OUTLIER"
  /// A renewal's price is far from the median of its product and from the lineage's own.
  case priceOutlier = "PRICE_OUTLIER"
  /// Arrived after an event of the lineage with a later event time.
  case outOfOrder = "OUT_OF_ORDER"
  /// Received later than the delivery window.
  case late = "LATE"
  /// The message was created after it was received, or decades after its event.
  case clock = "CLOCK"
  /// A charge after its revocation, a refund before its charge, an end before its start.
  case impossibleSequence = "IMPOSSIBLE_SEQUENCE"
  /// One lineage occurs in production and in the sandbox.
  case envLeak = "ENV_LEAK"
  /// A feed delivered far less in a day or several hours than its past makes likely.
  case feedGap = "FEED_GAP"
  /// A feed has delivered nothing for longer than its past makes likely.
  case staleInput = "STALE_INPUT"

  /// Whether the code reports a missing event.
  public var isMissing: Bool { rawValue.hasPrefix("MISSED_") }

  /// Whether the code reports a missing charge or trial start.
  public var isCharge: Bool {
    [.missedStart, .missedConversion, .missedRenewal, .missedPurchase].contains(self)
  }

  /// Whether the code is about when an event arrived; `deliveries_daily` also counts such arrivals
  /// if there is no break.
  public var isAboutArrival: Bool { self == .late || self == .outOfOrder }
}

extension ChargeKind {
  /// The break that the loss of such a charge is.
  public var codeWhenMissed: BreakCode {
    switch self {
    case .first: .missedStart
    case .conversion: .missedConversion
    case .renewal: .missedRenewal
    case .productChange: .missedProductChange
    case .oneTime: .missedPurchase
    }
  }
}

/// The progress of a break.
public enum BreakStatus: String, CaseIterable, Codable, Sendable {
  /// The provider can still deliver the event; no gate counts the break.
  case pending
  /// The provider can no longer deliver the event.
  case open
  /// Nothing is left to do: the event arrived late or out of order, or the break is informational.
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

/// A difference between received events, the current state and the calendar.
public struct Break: Codable, Sendable, Equatable {
  /// Hash of code family, provider, app, environment and lineage, and for a missing charge its
  /// number in the subscription: the same loss has the same id, whatever proves it.
  public var id: String
  /// The kind of break.
  public var code: BreakCode
  /// Its progress.
  public var status = BreakStatus.open
  /// How much it matters, by the money at stake.
  public var severity = Severity.medium
  /// The provider of the events or snapshots concerned.
  public var provider: Provider
  /// App id as the provider writes it; empty when unknown.
  public var app = ""
  /// Whether real money is involved.
  public var environment = Environment.production
  /// The store of the subscription or purchase.
  public var store = Store.unknown
  /// The key of the user (`userKeyText`); empty when unknown.
  public var user = ""
  /// Original transaction id of the lineage.
  public var subscription = ""
  /// Original transaction ids of all its parts, if it has several; not stored.
  public var parts: [String] = []
  /// The length of the subscription's last period, within a seventh of which a charge's date can be
  /// inferred; not stored.
  public var periodLength = Interval.seconds(0)
  /// Transaction id of the missing or doubtful event; empty when unknown.
  public var transaction = ""
  /// Store product id.
  public var product = ""
  /// Business time of the missing or doubtful event.
  public var expectedAt: Instant?
  /// When the provider can no longer deliver.
  public var settlesAt: Instant?
  /// When the provider deletes its record that could still prove the event; nil when unknown.
  public var evidenceExpiresAt: Instant?
  /// When the access that only one side shows ends; not stored.
  public var accessEnd: Instant?
  /// How many events are missing; 0 if the break is not a missing event.
  public var missingEvents: Int64 = 0
  /// How many of these another provider reports, which counts: `estimatedUSD` values only the
  /// others; not stored.
  public var reportedElsewhere: Int64 = 0
  /// US dollars; negative for a missing refund; nil when no price is known.
  public var estimatedUSD: Amount?
  /// The source of `estimatedUSD`.
  public var basis = AmountBasis.none
  /// The facts on both sides, in words.
  public var evidence = ""
  /// What to do next.
  public var action = ""
  /// Key of the lineage whose events alone show the break; 0 for all other breaks.
  public var lineage: Int64 = 0

  /// A break of `code`.
  public init(id: String, code: BreakCode, provider: Provider) {
    self.id = id
    self.code = code
    self.provider = provider
  }
}
