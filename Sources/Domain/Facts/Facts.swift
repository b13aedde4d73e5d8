/// The dimensions of every report about subscriptions.
public struct ProductKey: Codable, Sendable, Hashable {
  /// The provider that sent it.
  public var provider: Provider
  /// The ledger's symbol of the app; 0 when unknown.
  public var app: StringID
  /// The store that took the money.
  public var store: Store
  /// The ledger's symbol of the store product id; 0 when unknown.
  public var product: StringID

  /// A product of an app in a store, as a provider reports it.
  public init(provider: Provider, app: StringID, store: Store, product: StringID) {
    self.provider = provider
    self.app = app
    self.store = store
    self.product = product
  }
}

/// The dimensions of a booked amount.
public struct RevenueKey: Sendable, Hashable {
  /// The day of the booking, in the report's time zone.
  public var day: Day
  /// The product.
  public var productKey: ProductKey
  /// Whether the product renews.
  public var productType: ProductType
  /// The kind of charge; for a refund, the kind of the refunded charge.
  public var chargeKind: ChargeKind
  /// The ledger's symbol of the user's country; 0 when not sent.
  public var country: StringID
  /// The ledger's symbol of the storefront; 0 when not sent.
  public var storefront: StringID
  /// The ledger's symbol of the ISO 4217 code of local amounts; 0 when not sent.
  public var currency: StringID
  /// Percent in millionths; nil when unknown.
  public var rate: Amount?
  /// The source of the amounts.
  public var basis: AmountBasis

  /// The key of one revenue cell.
  public init(
    day: Day, productKey: ProductKey, productType: ProductType, chargeKind: ChargeKind,
    country: StringID, storefront: StringID, currency: StringID, rate: Amount?, basis: AmountBasis
  ) {
    self.day = day
    self.productKey = productKey
    self.productType = productType
    self.chargeKind = chargeKind
    self.country = country
    self.storefront = storefront
    self.currency = currency
    self.rate = rate
    self.basis = basis
  }
}

/// A sum of amounts, and how many are unknown.
///
/// It never overflows: each 2⁶² millionths beyond `sumMax` are carried into `unknown` as 2⁴⁰. A
/// report then leaves the cell empty, and later amounts can undo the carry.
public struct PartialSum: Sendable, Hashable {
  /// The sum of the known amounts, from -`sumMax` to below `sumMax`.
  public var sum = Amount.zero
  /// How many amounts are missing from `sum`, plus the carries; a report leaves the cell empty
  /// unless this is 0.
  public var unknown: Int64 = 0

  /// Half the value of a carry, in millionths: 2.3 × 10¹² units.
  public static let sumMax: Int64 = 1 << 61
  /// What one carry adds to `unknown`.
  public static let carry: Int64 = 1 << 40

  /// An empty sum.
  public init() {}

  /// Adds an amount, or counts it as unknown.
  public mutating func add(_ amount: Amount?) {
    if let amount { add(amount.micros, times: 1) } else { unknown += 1 }
  }

  @inline(__always)
  mutating func add(_ micros: Int64, times factor: Int64) {
    let (change, isLarge) = micros.multipliedReportingOverflow(by: factor)
    let (next, isOver) = sum.micros.addingReportingOverflow(change)
    guard !isLarge, !isOver, next >= -Self.sumMax, next < Self.sumMax else {
      return carry(Int128(sum.micros) + Int128(micros) * Int128(factor))
    }
    sum.micros = next
  }

  /// Adds `factor` times another sum, including its unknown amounts.
  @inline(__always)
  mutating func add(_ other: PartialSum, times factor: Int64) {
    unknown += factor * other.unknown
    add(other.sum.micros, times: factor)
  }

  private mutating func carry(_ exact: Int128) {
    let carries = (exact + Int128(Self.sumMax)) >> 62
    unknown += Int64(carries) * Self.carry
    sum.micros = Int64(exact - carries << 62)
  }
}

/// The measures of one revenue cell.
///
/// Refunds are positive; proceeds are net of refunds.
public struct RevenueSums: Sendable, Hashable {
  /// Number of charges booked.
  public var charges: Int64 = 0
  /// Number of refunds booked.
  public var refunds: Int64 = 0
  /// Charges before commission, in US dollars.
  public var grossUSD = PartialSum()
  /// Refunds before commission, in US dollars; positive.
  public var refundsUSD = PartialSum()
  /// Charges minus refunds, after commission, in US dollars.
  public var proceedsUSD = PartialSum()
  /// Charges before commission, in the key's currency.
  public var grossLocal = PartialSum()
  /// Refunds before commission, in the key's currency; positive.
  public var refundsLocal = PartialSum()
  /// Charges minus refunds, after commission, in the key's currency.
  public var proceedsLocal = PartialSum()

  /// Nothing booked yet.
  public init() {}

  /// Adds other bookings of the cell; a factor of -1 subtracts them.
  public mutating func add(_ other: RevenueSums, times factor: Int64 = 1) {
    charges += factor * other.charges
    refunds += factor * other.refunds
    grossUSD.add(other.grossUSD, times: factor)
    refundsUSD.add(other.refundsUSD, times: factor)
    proceedsUSD.add(other.proceedsUSD, times: factor)
    grossLocal.add(other.grossLocal, times: factor)
    refundsLocal.add(other.refundsLocal, times: factor)
    proceedsLocal.add(other.proceedsLocal, times: factor)
  }
}

/// Why an event, or part of it, adds no money to reports.
///
/// Raw values are stored in the ledger.
public enum ExclusionReason: UInt8, NamedCode {
  /// A test purchase.
  case sandbox = 1
  /// Shared by a family member who paid.
  case familySharing = 2
  /// Granted manually, without a purchase.
  case manual = 3
  /// A repeated charge of one store transaction.
  case doubleCharge = 4
  /// The part of a refund beyond its charge.
  case overRefund = 5
  /// Also reported by another provider, whose report counts.
  case overlap = 6
}

/// The key of one cell of excluded events.
public struct ExclusionKey: Sendable, Hashable {
  /// The day of the event, in the report's time zone.
  public var day: Day
  /// The feed that contained it.
  public var feed: Feed
  /// Why the events add no money.
  public var reason: ExclusionReason

  /// Events of a feed that were excluded for a reason on a day.
  public init(day: Day, feed: Feed, reason: ExclusionReason) {
    self.day = day
    self.feed = feed
    self.reason = reason
  }
}

/// The measures of one cell of excluded events.
public struct ExclusionSums: Sendable, Hashable {
  /// Events of every kind.
  public var events: Int64 = 0
  /// The number of these that are charges.
  public var charges: Int64 = 0

  /// Nothing excluded yet.
  public init() {}

  /// Adds events of the cell; a factor of -1 subtracts them.
  public mutating func add(_ other: ExclusionSums, times factor: Int64 = 1) {
    events += factor * other.events
    charges += factor * other.charges
  }
}

/// The key of one cell of late or unordered arrivals.
public struct ArrivalKey: Sendable, Hashable {
  /// The day of the delivery: received, else created, else event time.
  public var day: Day
  /// The provider that sent it.
  public var provider: Provider
  /// What happened.
  public var kind: EventKind

  /// Deliveries of a kind on a day.
  public init(day: Day, provider: Provider, kind: EventKind) {
    self.day = day
    self.provider = provider
    self.kind = kind
  }
}

/// The measures of one cell of late or unordered arrivals.
public struct ArrivalSums: Sendable, Hashable {
  /// Arrived after an event of the lineage with a later event time.
  public var outOfOrder: Int64 = 0
  /// Received later than the delivery window after the event.
  public var late: Int64 = 0

  /// No late or unordered arrivals yet.
  public init() {}

  /// Adds deliveries of the cell; a factor of -1 subtracts them.
  public mutating func add(_ other: ArrivalSums, times factor: Int64 = 1) {
    outOfOrder += factor * other.outOfOrder
    late += factor * other.late
  }
}

/// Additive cells: the result of folding many lineages.
public struct Facts: Sendable, Equatable {
  /// Amounts booked.
  public var revenue: [RevenueKey: RevenueSums] = [:]
  /// Subscriptions and recurring revenue that started, ended or changed.
  public var movements: [MovementKey: MovementSums] = [:]
  /// Renewals by their ordinal.
  public var renewals: [RenewalKey: RenewalSums] = [:]
  /// Trials by the day of their start.
  public var trials: [ProductDay: TrialSums] = [:]
  /// Cohorts by months since their start.
  public var retention: [RetentionKey: RetentionSums] = [:]
  /// Events that add no money.
  public var excluded: [ExclusionKey: ExclusionSums] = [:]
  /// Deliveries that arrived late or out of order.
  public var arrivals: [ArrivalKey: ArrivalSums] = [:]
  /// Events with missing data.
  public var gaps: [CoverageKey: Int64] = [:]

  /// No facts yet.
  public init() {}
}
