public import Domain

/// One charge as the fold booked it.
public struct Charge: Sendable, Equatable {
  /// `transactionKey` of the transaction; 0 when unknown.
  public var transaction: Int64
  /// Event time: when it is booked.
  public var time: Instant
  /// Start of the period paid for.
  public var periodStart: Instant
  /// End of the period paid for; nil while it is open, and for one-time purchases.
  public var periodEnd: Instant?
  /// What it pays for.
  public var kind: ChargeKind
  /// Where the amounts come from.
  public var basis: AmountBasis
  /// StringID of the store product id.
  public var product: StringID
  /// Price in US dollars; nil when unknown.
  public var grossUSD: Amount?
  /// StringID of the ISO 4217 code; 0 when unknown.
  public var currency: StringID
  /// Renewal ordinal; nil for other charges and when the start was never seen.
  public var ordinal: Int64?
  /// Price in `currency`; nil when unknown.
  public var grossLocal: Amount?
  /// How many renewals the provider counts up to this charge; nil when not sent.
  public var renewalCount: Int32?
}

/// The price in an event that is not a charge.
public struct ReportedPrice: Sendable, Equatable {
  /// `transactionKey` of the event's transaction; 0 when unknown.
  public var transaction: Int64
  /// Event time.
  public var time: Instant
  /// StringID of the store product id.
  public var product: StringID
  /// The price, above 0.
  public var price: Price
}

/// One refund as the fold booked it.
public struct Refund: Sendable, Equatable {
  /// `transactionKey` of the refunded transaction; 0 when unknown.
  public var transaction: Int64
  /// When it happened: the event time.
  public var time: Instant
  /// When the refunded transaction was made, by the refund; nil if not sent.
  public var chargedAt: Instant?
  /// StringID of the store product id; 0 when unknown.
  public var product: StringID
  /// Whether the refunded purchase renews, or was made once.
  public var productType: ProductType
  /// Price in US dollars; nil when unknown.
  public var grossUSD: Amount?
  /// Whether the charge it refunds is among the lineage's.
  public var chargeIsKnown: Bool
}

/// One free trial as the fold saw it start.
public struct Trial: Sendable, Equatable {
  /// `transactionKey` of the trial's transaction.
  public var transaction: Int64
  /// When it began.
  public var start: Instant
  /// When it ends; nil when not sent.
  public var end: Instant?
  /// StringID of the store product id.
  public var product: StringID
  /// The last moment at which a first payment is its conversion, rather than a new start; nil while
  /// its end is unknown.
  public var convertibleUntil: Instant?
  /// Whether an event reported that it expired.
  public var isExpired = false
}

/// A change of product as it was reported.
public struct ProductChange: Sendable, Equatable {
  /// `transactionKey` of its transaction; 0 when unknown.
  public var transaction: Int64
  /// When it was reported: the event time.
  public var time: Instant
  /// StringID of the product that was left; 0 if not reported.
  public var previousProduct: StringID
  /// StringID of the product moved to; 0 if not reported.
  public var product: StringID
  /// Whether it is a charge, too.
  public var isPaid: Bool
}

/// One end of an active time, as the churn report counts it.
public struct Churned: Sendable, Equatable {
  /// The effective end.
  public var at: Instant
  /// StringID of the store product id held then.
  public var product: StringID
}

/// The state of one subscription at as-of; one object, however many checks look at it.
///
/// Small fields stand behind optional ones, where they take no room: a user can have hundreds of
/// thousands.
public final class LineageState {
  /// Key of the lineage; of several, that of the newest charge, else of the newest event.
  public var lineage: Int64
  /// Keys of all lineages of the subscription, ascending, where there are several.
  var merged: [Int64] = []
  /// Time of the first counted event.
  public var firstEventAt: Instant
  /// Time of the last counted event.
  public var lastEventAt: Instant
  /// Trials in business order.
  public var trials: [Trial] = []
  /// In business order.
  public var charges: [Charge] = []
  /// Refunds in business order.
  public var refunds: [Refund] = []
  /// Transaction keys of every counted event, in business order, repeated ids included once.
  public var transactions: [Int64] = []
  /// The products that cancels, failed payments and ends name of transactions whose charge never
  /// came, by `transactionKey`.
  public var productsOfUncharged: [Int64: StringID] = [:]
  /// Prices in events that are not charges, in business order.
  public var prices: [ReportedPrice] = []
  /// Changes of product in business order.
  public var productChanges: [ProductChange] = []
  /// Periods that events prove although neither charge nor trial start arrived, in business order.
  public var unseenPeriods: [UnseenPeriod] = []
  /// Whether the numbers of Play's orders may show that a charge never came.
  var mayMissOrders = false
  /// Ends that count as churn, in order; pauses are left out.
  public var churned: [Churned] = []
  /// What other providers reported of it and this one did not, in business order.
  public var reportedElsewhere: [ReportElsewhere] = []
  /// End of the last period as paid or tried, without grace; nil when open-ended or one-time.
  public var periodEnd: Instant?
  /// Whether the last period is a trial rather than paid.
  public var isTrial = false
  /// Whether `periodEnd` follows from the product's configured or listed length alone.
  public var isEndDerived = false
  /// The provider that reported it.
  public var provider: Provider
  /// StringID of the app id; 0 unknown.
  public var app: StringID
  /// A later end in a cancel, an expiry or a failed payment: the period that it ends was paid for,
  /// though its charge never came.
  public var reportedEnd: Instant?
  /// Production or sandbox.
  public var environment: Environment
  /// The shop.
  public var store: Store
  /// Whether an event came that only something that renews has.
  public var concernsSubscription = false
  /// The product held last; a store product id.
  public var product: StringID
  /// The end in the last cancel or expiry of the last period's own charge, whether it counts or
  /// not; nil without one.
  public var lastReportedEnd: Instant?
  /// Whether a whole refund or a revocation ended the last period.
  public var accessRevoked = false
  /// Whether the lineage's last word is that it will not renew.
  public var isAutoRenewOff = false
  /// Whether the last period is followed by a billing problem that no charge has solved.
  public var isInBillingRetry = false
  /// StringID of the country of the newest charge that shows one, else of the newest event; 0
  /// unknown.
  public var country: StringID = 0
  /// End of the last period with grace, or the moment access was revoked.
  public var effectiveEnd: Instant?
  /// Whether every charge from the lineage's start was seen, so that counting from it is sound.
  public var isStartSeen = false
  /// Whether a payment failed before the first charge, which then came at any time.
  public var isFirstChargeRecovered = false
  /// When auto-renew was last switched off, in whatever period; nil when it never was or an event
  /// switched it on again.
  public var lastCancelAt: Instant?
  /// Event time of the first failed payment of the last period; nil without any.
  public var paymentFailedAt: Instant?
  /// Event time of the first expiry of the last period; nil without any.
  public var expiredAt: Instant?
  /// The end of the last period, when auto-renew was on and no event arrived about what followed,
  /// although it is overdue; nil otherwise.
  public var silentEnd: Instant?
  /// When the subscription was first bought, as the state with its first charge dates it; nil when
  /// not sent.
  public var firstPurchasedAt: Instant?
  /// The highest renewal ordinal known; nil when neither the start nor a counter arrived.
  public var renewalOrdinal: Int64?
  /// The highest counter of the events since the last charge; nil when none has one.
  public var reportedCount: ReportedCount?
  /// The product that a change without a charge announced for the next renewal; nil when none did.
  public var scheduledProduct: StringID?

  /// Keys of all lineages of the subscription, ascending.
  public var lineages: [Int64] { merged.isEmpty ? [lineage] : merged }

  /// Whether the lineage renews, rather than being a one-time purchase.
  public var isSubscription: Bool {
    concernsSubscription || !trials.isEmpty || charges.contains { $0.kind != .oneTime }
  }

  /// Whether the trial that is the last period was given back, before anything was paid.
  public var isTrialGivenBack: Bool {
    guard isTrial, let trial = trials.last, trial.transaction != 0 else { return false }
    return refunds.contains { $0.transaction == trial.transaction }
  }

  /// Whether it names a transaction whose charge never came, or may show one by numbers of orders.
  public var namesLostCharges: Bool {
    mayMissOrders || !unseenPeriods.isEmpty || !reportedElsewhere.isEmpty
      || refunds.contains { !$0.chargeIsKnown }
  }

  /// Whether an expiry was reported for the last period.
  public var isExpiryReported: Bool { expiredAt != nil }

  /// Charges of subscriptions, in business order.
  public var subscriptionCharges: [Charge] {
    charges.contains { $0.kind == .oneTime } ? charges.filter { $0.kind != .oneTime } : charges
  }

  /// Changes of product that came without a charge.
  public var unpaidChanges: [ProductChange] { productChanges.filter { !$0.isPaid } }

  /// A lineage without events.
  public init(
    lineage: Int64, provider: Provider, environment: Environment, store: Store, app: StringID,
    product: StringID, firstEventAt: Instant, lastEventAt: Instant
  ) {
    self.lineage = lineage
    self.provider = provider
    self.environment = environment
    self.store = store
    self.app = app
    self.product = product
    self.firstEventAt = firstEventAt
    self.lastEventAt = lastEventAt
  }
}

/// Something odd that the fold saw in one event.
public struct FoldFinding: Sendable, Equatable {
  /// The kind of finding.
  public var code: BreakCode
  /// Identity of the event it is about.
  public var identity: Int64
  /// `transactionKey` of the transaction in question; 0 when none is.
  public var transaction: Int64
  /// When it happened: the event time.
  public var time: Instant
  /// StringID of the store product id.
  public var product: StringID
  /// Difference in US dollars, when the finding has one.
  public var difference: Amount?
  /// The facts on both sides, in words, without personal data.
  public var evidence: String

  /// Something odd in `event`; `difference` is in US dollars.
  public init(
    _ code: BreakCode, _ event: Event, difference: Amount? = nil, _ evidence: String
  ) {
    self.code = code
    identity = event.identity
    transaction = event.transaction
    time = event.time
    product = event.product
    self.difference = difference
    self.evidence = evidence
  }
}
