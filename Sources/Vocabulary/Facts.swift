/// What is sold: the dimensions that every report about subscriptions has.
public struct Offering: Sendable, Hashable {
  public var provider: Provider
  public var app: Symbol
  public var store: Store
  public var product: Symbol

  /// A product of an app in a store, as a provider tells of it.
  public init(provider: Provider, app: Symbol, store: Store, product: Symbol) {
    self.provider = provider
    self.app = app
    self.store = store
    self.product = product
  }
}

/// The dimensions of a booked amount.
public struct RevenueKey: Sendable, Hashable {
  public var day: Day
  public var offering: Offering
  public var productType: ProductType
  public var chargeKind: ChargeKind
  public var country: Symbol
  public var storefront: Symbol
  public var currency: Symbol
  /// Percent in millionths; nil when unknown.
  public var rate: Amount?
  public var basis: AmountBasis

  /// The key of one revenue cell.
  public init(
    day: Day, offering: Offering, productType: ProductType, chargeKind: ChargeKind,
    country: Symbol, storefront: Symbol, currency: Symbol, rate: Amount?, basis: AmountBasis
  ) {
    self.day = day
    self.offering = offering
    self.productType = productType
    self.chargeKind = chargeKind
    self.country = country
    self.storefront = storefront
    self.currency = currency
    self.rate = rate
    self.basis = basis
  }
}

/// A sum of amounts of which some may be unknown.
public struct PartialSum: Sendable, Hashable {
  public var sum = Amount.zero
  /// How many amounts are missing from `sum`; a report leaves the cell empty unless 0.
  public var unknown: Int64 = 0

  /// Nothing summed yet.
  public init() {}

  /// Adds an amount, or counts it as unknown.
  public mutating func add(_ amount: Amount?) throws(AmountOverflow) {
    if let amount { sum = try sum.adding(amount) } else { unknown += 1 }
  }
}

/// The measures of one revenue cell. Refunds are positive; proceeds are net of refunds.
public struct RevenueSums: Sendable, Hashable {
  public var charges: Int64 = 0
  public var refunds: Int64 = 0
  public var grossUSD = PartialSum()
  public var refundsUSD = PartialSum()
  public var proceedsUSD = PartialSum()
  public var grossLocal = PartialSum()
  public var refundsLocal = PartialSum()
  public var proceedsLocal = PartialSum()

  /// Nothing booked yet.
  public init() {}
}

/// How a subscription, or its monthly recurring revenue, enters, leaves or changes a row.
///
/// Raw values are stored in the ledger.
public enum Movement: UInt8, CaseIterable, Sendable {
  case new = 1
  case firstSeen = 2
  case reactivated = 3
  case recovered = 4
  case resumed = 5
  case transferIn = 6
  case churned = 7
  case paused = 8
  case transferOut = 9
  /// The reasons of `churned`; each churned subscription has exactly one.
  case churnedVoluntary = 10
  case churnedInvoluntary = 11
  case churnedRefund = 12
  case churnedPriceIncrease = 13
  case churnedDeveloper = 14
  case churnedUnknown = 15
  /// Active at the month's open with an end in the month, neither active nor paused at its close.
  case lost = 16
  /// +1 when an active subscription is set not to renew, −1 when that no longer holds.
  case autoRenewOff = 17
  case expansion = 18
  case contraction = 19
  /// Same local price, other US dollars; signed.
  case fx = 20
}

/// The key of one movement cell.
public struct MovementKey: Sendable, Hashable {
  public var day: Day
  public var offering: Offering
  public var movement: Movement

  /// A movement of an offering on a day.
  public init(day: Day, offering: Offering, movement: Movement) {
    self.day = day
    self.offering = offering
    self.movement = movement
  }
}

/// The measures of one movement cell.
public struct MovementSums: Sendable, Hashable {
  public var subscriptions: Int64 = 0
  /// Monthly recurring revenue moved, in US dollars.
  public var mrr = Amount.zero

  /// Nothing moved yet.
  public init() {}
}

/// The key of one renewals cell.
public struct RenewalKey: Sendable, Hashable {
  public var day: Day
  public var offering: Offering
  /// Nil when the lineage's start was never seen and no counter says.
  public var ordinal: Int32?

  /// Renewals number `ordinal` of an offering on a day.
  public init(day: Day, offering: Offering, ordinal: Int32?) {
    self.day = day
    self.offering = offering
    self.ordinal = ordinal
  }
}

/// The measures of one renewals cell.
public struct RenewalSums: Sendable, Hashable {
  public var renewals: Int64 = 0
  public var refunded: Int64 = 0

  /// Nothing renewed yet.
  public init() {}
}

/// The key of a cell that has only a day and an offering.
public struct OfferingDay: Sendable, Hashable {
  public var day: Day
  public var offering: Offering

  /// An offering on a day.
  public init(day: Day, offering: Offering) {
    self.day = day
    self.offering = offering
  }
}

/// Trials by the day of their start: started = converted + expired + pending.
public struct TrialSums: Sendable, Hashable {
  public var started: Int64 = 0
  public var converted: Int64 = 0
  public var canceled: Int64 = 0
  public var expired: Int64 = 0
  public var pending: Int64 = 0

  /// No trials yet.
  public init() {}
}

/// The key of one retention cell.
public struct RetentionKey: Sendable, Hashable {
  public var cohort: Month
  public var offering: Offering
  /// Months since the cohort's.
  public var index: Int32

  /// Month `index` of a cohort.
  public init(cohort: Month, offering: Offering, index: Int32) {
    self.cohort = cohort
    self.offering = offering
    self.index = index
  }
}

/// The measures of one retention cell, as movements.
public struct RetentionSums: Sendable, Hashable {
  /// Lineages that joined; only at index 0.
  public var joined: Int64 = 0
  /// Net change of active lineages at the end of the month against the month before.
  public var activeChange: Int64 = 0
  public var netUSD = PartialSum()

  /// Nothing yet.
  public init() {}
}

/// Why an event carries no money in reports. Raw values are stored in the ledger.
public enum ExclusionReason: UInt8, CaseIterable, Sendable {
  case sandbox = 1
  case familySharing = 2
  case manual = 3

  /// The word that reports use.
  public var name: String {
    switch self {
    case .sandbox: "sandbox"
    case .familySharing: "family_sharing"
    case .manual: "manual"
    }
  }
}

/// The key of one cell of excluded events.
public struct ExclusionKey: Sendable, Hashable {
  public var day: Day
  public var provider: Provider
  public var app: Symbol
  public var reason: ExclusionReason

  /// Events of an app left out for a reason on a day.
  public init(day: Day, provider: Provider, app: Symbol, reason: ExclusionReason) {
    self.day = day
    self.provider = provider
    self.app = app
    self.reason = reason
  }
}

/// The measures of one cell of excluded events.
public struct ExclusionSums: Sendable, Hashable {
  public var events: Int64 = 0
  public var charges: Int64 = 0

  /// Nothing left out yet.
  public init() {}
}

/// The key of one cell of arrival disorder.
public struct ArrivalKey: Sendable, Hashable {
  /// The day of the delivery: received, else created, else event time.
  public var day: Day
  public var provider: Provider
  public var kind: EventKind

  /// Deliveries of a kind on a day.
  public init(day: Day, provider: Provider, kind: EventKind) {
    self.day = day
    self.provider = provider
    self.kind = kind
  }
}

/// The measures of one cell of arrival disorder.
public struct ArrivalSums: Sendable, Hashable {
  /// Arrived after an event of the lineage with a later event time.
  public var outOfOrder: Int64 = 0
  /// Received later than the delivery window after the event.
  public var late: Int64 = 0

  /// Everything in order yet.
  public init() {}
}

/// Additive cells: what the fold of many lineages comes to.
public struct Facts: Sendable, Equatable {
  public var revenue: [RevenueKey: RevenueSums] = [:]
  public var movements: [MovementKey: MovementSums] = [:]
  public var renewals: [RenewalKey: RenewalSums] = [:]
  public var trials: [OfferingDay: TrialSums] = [:]
  public var retention: [RetentionKey: RetentionSums] = [:]
  public var excluded: [ExclusionKey: ExclusionSums] = [:]
  public var arrivals: [ArrivalKey: ArrivalSums] = [:]

  /// No facts yet.
  public init() {}
}
