import Domain

/// A store transaction of a customer: `base` counts the customer's purchases and subscriptions,
/// `index` the transactions of a subscription.
struct TransactionNumber: Sendable, Hashable {
  var base: Int
  var index: Int

  var original: TransactionNumber { TransactionNumber(base: base, index: 0) }
}

struct Person: Sendable {
  /// From 0, in the order of the scenario.
  var number: Int
  /// Random bits of the person for ids, device and address.
  var noise: UInt64
  var shop: Shop
  var market: Market
  var environment: Environment
  var acceptsPriceRise: Bool
  /// Who reported the same purchases before a migration; nil without one.
  var previousProvider: Provider?
}

struct Charge: Sendable {
  var kind: ChargeKind
  var transaction: TransactionNumber
  var time: Int64
  var product: Product
  /// Number of the renewal, from 1; nil for other charges.
  var ordinal: Int32?
  /// The amount that the customer paid.
  var gross = Money(local: 0, usd: 0)
  /// Percent left after commission, or `unknownRate`.
  var rate = unknownRate
  /// Whether the provider sends proceeds instead of the gross amount.
  var sendsProceeds = false
  var refund: Refund?
  var isOffer = false

  static let unknownRate: Int64 = 0

  var proceeds: Money { gross.scaled(rate, 100) }
  var revenue: Money { sendsProceeds ? proceeds : gross }
  /// When the whole charge was refunded.
  var wholeRefundAt: Int64? { refund.flatMap { $0.isWhole ? $0.time : nil } }

  /// The charge without a refund after `time`.
  func known(at time: Int64) -> Charge {
    var known = self
    known.refund = refund.flatMap { $0.time <= time ? $0 : nil }
    return known
  }
}

struct Refund: Sendable {
  var time: Int64
  /// The amount that the provider sends, without sign.
  var revenue: Money
  var isWhole: Bool
}

/// A period of access: a free start, charged with 0, or a paid one.
struct AccessPeriod: Sendable {
  var charge: Charge
  var start: Int64
  var end: Int64
  var canceledAt: Int64?
  var billingIssueAt: Int64?
  var graceEnd: Int64?
  /// When the store stopped trying to charge.
  var gaveUpAt: Int64?
  var hasExpired = false
  /// When a whole refund ended access.
  var revokedAt: Int64?
  /// When another product replaced it.
  var replacedAt: Int64?
  /// When the first paid period after a free start was charged.
  var convertedAt: Int64?
  /// Why it ended, if a provider sends more than that auto-renew was off.
  var reportedReason: ChurnReason?

  /// When access really ended or will end.
  var effectiveEnd: Int64 { revokedAt ?? replacedAt ?? graceEnd ?? end }

  var product: Product { charge.product }

  func state(isOver: Bool) -> RenewState {
    if isOver { return .canceled }
    return billingIssueAt != nil ? .billingIssue : canceledAt != nil ? .canceled : .willRenew
  }

  /// The period without events after `time`.
  func known(at time: Int64) -> AccessPeriod {
    func past(_ moment: Int64?) -> Int64? { moment.flatMap { $0 <= time ? $0 : nil } }
    var known = self
    known.charge = charge.known(at: time)
    known.canceledAt = past(canceledAt)
    known.billingIssueAt = past(billingIssueAt)
    known.graceEnd = known.billingIssueAt == nil ? nil : graceEnd
    known.gaveUpAt = past(gaveUpAt)
    // After a free start, the store tries for 60 days to charge.
    known.hasExpired = hasExpired && (known.billingIssueAt == nil ? end : end + 60 * day) <= time
    known.revokedAt = past(revokedAt)
    known.replacedAt = past(replacedAt)
    return known
  }
}

/// One subscription from its start to its final end.
struct Subscription: Sendable {
  var trial: AccessPeriod?
  /// Sorted by time, including those before the start of the scenario.
  var periods: [AccessPeriod] = []
  var original: TransactionNumber
}

enum OccurrencePart: Sendable, Hashable {
  case trial(subscription: Int)
  case period(subscription: Int, period: Int)
  case purchase(Int)
}

/// Access in the provider's records at the time of an event.
struct Access: Sendable {
  var isActive: Bool
  var started: Int64
  /// Nil for access that never ends.
  var until: Int64?
  var state = RenewState.nonRenewable
  var isTrial = false
  var product: Product
}

/// An occurrence that a provider reports.
struct Occurrence: Sendable {
  /// `other` is the marketing signal that a trial is still active.
  var kind: EventKind
  var time: Int64
  var part: OccurrencePart
  /// What it is about, with the product that is sent; `gross` is for all units.
  var charge: Charge
  var previousProduct: Product?
  /// With the sign that is sent; nil when the event has no value.
  var revenue: Money?
  var units: Int64 = 1
  var transactionDate: Int64
  var expires: Int64?
  var graceEnd: Int64?
  var renewCount: Int32?
  var access: Access
  /// Whether it was sent from abroad, so that the message and the charge name different countries.
  var isAbroad = false
  var fault: FeedFault?

  var transaction: TransactionNumber { charge.transaction }
  var product: Product { charge.product }
}

/// The true history of one simulated customer, up to the end of the scenario.
struct CustomerSimulation: Sendable {
  var person: Person
  let span: TimeSpan
  var subscriptions: [Subscription] = []
  var purchases: [Charge] = []
  /// Sorted by time, only those that the archives cover.
  var occurrences: [Occurrence] = []
  /// The first occurrence at which the account belongs to another user; nil if it never moved.
  var transferredFrom: Int?
  /// The customer in the expected reports if its provider does not send everything.
  var expected: ExpectedHistory?
  /// Whether another provider reports the customer after a migration.
  var movesAway = false

  /// 0, or 1 after the account has moved to another user.
  func account(at index: Int) -> UInt64 { transferredFrom.map { index >= $0 ? 1 : 0 } ?? 0 }
}

/// An occurrence of a customer, as the customer's provider sends it.
struct SentEvent: Sendable {
  let customer: CustomerSimulation
  /// Its place among the customer's occurrences.
  let index: Int

  var person: Person { customer.person }
  var occurrence: Occurrence { customer.occurrences[index] }
  /// Random bits of the event.
  var noise: UInt64 { Randomness.mix(person.noise &+ UInt64(index)) }
}

extension OccurrencePart {
  /// The subscription's index; nil for a one-time purchase.
  var subscription: Int? {
    switch self {
    case .trial(let subscription), .period(let subscription, _): subscription
    case .purchase: nil
    }
  }
}
