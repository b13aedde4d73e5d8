public import Domain

/// One charge as the fold booked it.
public struct Charge: Sendable, Equatable {
  /// `transactionKey` of the transaction; 0 when unknown.
  public var transaction: Int64
  /// Event time, by which it is booked.
  public var time: Instant
  /// Start of the paid period.
  public var periodStart: Instant
  /// End of the paid period; nil while it is open, and for one-time purchases.
  public var periodEnd: Instant?
  /// The kind of charge.
  public var kind: ChargeKind
  /// The source of the amounts.
  public var basis: AmountBasis
  /// Symbol of the store product id.
  public var product: StringID
  /// Its price as booked.
  public var price: Price
  /// Renewal ordinal; nil for other charges and when the start was not seen.
  public var ordinal: Int64?
  /// The provider's number of renewals up to this charge; nil when not sent.
  public var renewalCount: Int32?
  /// When its subscription was bought, according to the state that shows it; nil when not sent.
  public var purchasedAt: Instant?
}

/// The price in an event that is not a charge.
public struct ReportedPrice: Sendable, Equatable {
  /// `transactionKey` of the event's transaction; 0 when unknown.
  public var transaction: Int64
  /// Event time.
  public var time: Instant
  /// Symbol of the store product id.
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
  /// When the refunded transaction was made, according to the refund; nil if not sent.
  public var chargedAt: Instant?
  /// Symbol of the store product id; 0 when unknown.
  public var product: StringID
  /// Whether the refunded purchase renews or was one-time.
  public var productType: ProductType
  /// Price in US dollars; nil when unknown.
  public var grossUSD: Amount?
  /// Whether the lineage's charges include the refunded one.
  public var chargeIsKnown: Bool
}

/// One free trial whose start the fold saw.
public struct Trial: Sendable, Equatable {
  /// `transactionKey` of the trial's transaction.
  public var transaction: Int64
  /// When it began.
  public var start: Instant
  /// When it ends; nil when not sent.
  public var end: Instant?
  /// Symbol of the store product id.
  public var product: StringID
  /// Until when a first payment is its conversion and not a new start; nil if its end is unknown.
  public var convertibleUntil: Instant?
  /// Whether an event reported that it expired.
  public var isExpired = false
}

/// A product change as reported.
public struct ProductChange: Sendable, Equatable {
  /// `transactionKey` of its transaction; 0 when unknown.
  public var transaction: Int64
  /// When it was reported: the event time.
  public var time: Instant
  /// Symbol of the previous product; 0 if not reported.
  public var previousProduct: StringID
  /// Symbol of the new product; 0 if not reported.
  public var product: StringID
  /// Whether it is also a charge.
  public var isPaid: Bool
}

/// One end of an active interval that the churn report counts.
public struct Churned: Sendable, Equatable {
  /// The effective end.
  public var at: Instant
  /// Symbol of the store product id held then.
  public var product: StringID
  /// Whether an event reported it as an expiry, without a failed payment.
  public var isExpired = false
}

/// What events can report about a period after a snapshot that already shows it.
public enum Notice: Sendable {
  /// Auto-renew was switched off.
  case cancel
  /// A payment failed.
  case failedPayment
  /// It expired.
  case expiry
  /// A refund or a revocation ended it.
  case revocation
  /// A charge continued it.
  case renewal
}

/// The state of one subscription at as-of; all checks share one object.
///
/// Small fields follow optional ones, whose padding they fill: a user can have many states.
public final class LineageState {
  /// Key of the lineage; if there are several, of the first event.
  public var lineage: Int64
  /// Keys of all lineages of the subscription, by their first events; empty if there is only one.
  var merged: [Int64] = []
  /// The times of these first events.
  public var mergedSince: [Instant] = []
  /// Time of the first counted event.
  public var firstEventAt: Instant
  /// Time of the last counted event.
  public var lastEventAt: Instant
  /// Trials in business order.
  public var trials: [Trial] = []
  /// Whether an event before the first charge is about a trial.
  public var isTrialNoticed = false
  /// Charges in business order.
  public var charges: [Charge] = []
  /// Refunds in business order.
  public var refunds: [Refund] = []
  /// Transaction keys of all counted events, in business order, each once.
  public var transactions: [Int64] = []
  /// Products of transactions without charge, by key, as cancels, failures and ends name them.
  public var productsOfUncharged: [Int64: StringID] = [:]
  /// Prices in events that are not charges, in business order.
  public var prices: [ReportedPrice] = []
  /// Product changes in business order.
  public var productChanges: [ProductChange] = []
  /// Periods proven by events although neither charge nor trial start arrived, in business order.
  public var unseenPeriods: [UnseenPeriod] = []
  /// Event times of failed payments, in business order.
  public var paymentsFailed: [Instant] = []
  /// Event times of failed payments, pauses and expiries, in business order.
  public var interruptions: [Instant] = []
  /// Whether the numbers in Play's order ids may show that a charge is missing.
  var mayMissOrders = false
  /// Ends that count as churn, in order, without pauses.
  public var churned: [Churned] = []
  /// What other providers reported about it and this one did not, in business order.
  public var reportedByOthers: [OtherProviderReport] = []
  /// Paid or trial end of the last period, without grace; nil when open-ended or one-time.
  public var periodEnd: Instant?
  /// Whether the last period is a trial and not paid.
  public var isTrial = false
  /// The provider that reported the subscription.
  public var provider: Provider
  /// Symbol of the app id; 0 when unknown.
  public var app: StringID
  /// A later end in a cancel, expiry or failed payment: its period was paid, its charge is missing.
  public var reportedEnd: Instant?
  /// Production or sandbox.
  public var environment: Environment
  /// The store.
  public var store: Store
  /// Whether it is a subscription and not a one-time purchase.
  public var isSubscription = false
  /// Symbol of the store product id held last.
  public var product: StringID
  /// The end in the last cancel or expiry of the last charge, even if it does not count; else nil.
  public var lastReportedEnd: Instant?
  /// Whether a full refund or a revocation ended the last period.
  public var accessRevoked = false
  /// The notices since a snapshot about the period that ran at its time.
  public var noticesSince: Set<Notice> = []
  /// Whether the lineage's latest report says that it will not renew.
  public var isAutoRenewOff = false
  /// Whether a state is sent when it changes, and not only with a charge.
  public var isSentOnChange = true
  /// Whether a billing problem followed the last period and no charge has resolved it.
  public var isInBillingRetry = false
  /// Symbol of the country of the newest charge with one, else of the newest event; 0 when unknown.
  public var country: StringID = 0
  /// End of the last period with grace, or the moment of revocation.
  public var effectiveEnd: Instant?
  /// Whether every charge since the lineage's start was seen, so that counting from it is valid.
  public var isStartSeen = false
  /// When auto-renew was last switched off, in any period; nil if never or if it is on again.
  public var lastCancelAt: Instant?
  /// When auto-renew was last switched off, even if it was switched on again.
  public var lastSwitchedOff: Instant?
  /// Event time of the first failed payment of the last period; nil without any.
  public var paymentFailedAt: Instant?
  /// Event time of the last period's first expiry, or the earlier end that it reports; else nil.
  public var expiredAt: Instant?
  /// When the store gave up collecting its failed payment; nil if none failed.
  public var gaveUpAt: Instant?
  /// The end of the last period if auto-renew was on and the next event is overdue; else nil.
  public var unansweredEnd: Instant?
  /// When it was first bought, according to the state with its first charge; nil when not sent.
  public var firstPurchasedAt: Instant?
  /// The highest counter in events since the last charge; nil when none has one.
  public var reportedCount: ReportedCount?
  /// The product that a change without a charge announced for the next renewal; nil if none.
  public var scheduledProduct: StringID?

  /// Keys of all lineages of the subscription, by their first events.
  public var lineages: [Int64] { merged.isEmpty ? [lineage] : merged }

  /// Whether the last period is a trial that was refunded before any payment.
  public var isTrialGivenBack: Bool {
    guard isTrial, let trial = trials.last, trial.transaction != 0 else { return false }
    return refunds.contains { $0.transaction == trial.transaction }
  }

  /// Whether it has a transaction without charge, or Play's order numbers may show a lost charge.
  public var namesLostCharges: Bool {
    mayMissOrders || !unseenPeriods.isEmpty || !reportedByOthers.isEmpty
      || refunds.contains { !$0.chargeIsKnown }
  }

  /// Charges of subscriptions, in business order.
  public var subscriptionCharges: [Charge] {
    charges.contains { $0.kind == .oneTime } ? charges.filter { $0.kind != .oneTime } : charges
  }

  /// The highest renewal ordinal known; nil when neither the start nor a counter arrived.
  public var renewalOrdinal: Int64? {
    charges.compactMap { charge in
      charge.ordinal ?? charge.renewalCount.flatMap { $0 > 0 ? Int64($0) : nil }
    }.max()
  }

  /// Product changes without a charge.
  public var unpaidChanges: [ProductChange] { productChanges.filter { !$0.isPaid } }

  init(from first: Event, to last: Event, in store: Store) {
    lineage = first.lineage
    provider = first.provider
    environment = first.environment
    self.store = store
    app = first.app
    product = last.product
    firstEventAt = first.time
    lastEventAt = last.time
  }
}

/// An anomaly that the fold found in one event.
public struct FoldFinding: Sendable, Equatable {
  /// The kind of finding.
  public var code: BreakCode
  /// Identity of the event.
  public var identity: Int64
  /// `transactionKey` of the transaction concerned; 0 when there is none.
  public var transaction: Int64
  /// When it happened: the event time.
  public var time: Instant
  /// Symbol of the store product id.
  public var product: StringID
  /// Difference in US dollars, if any.
  public var difference: Amount?
  /// The facts on both sides, in words, without personal data.
  public var evidence: String

  /// An anomaly in `event`; `difference` is in US dollars.
  public init(_ code: BreakCode, _ event: Event, difference: Amount? = nil, _ evidence: String) {
    self.code = code
    identity = event.identity
    transaction = event.transaction
    time = event.time
    product = event.product
    self.difference = difference
    self.evidence = evidence
  }
}
