/// A way in which a subscription or its monthly recurring revenue enters, leaves or changes a row.
///
/// Raw values are stored in the ledger.
public enum Movement: UInt8, NamedCode {
  /// First paid period of a subscription whose start was seen.
  case new = 1
  /// First paid period seen of a subscription that began before the first event.
  case firstSeen = 2
  /// Paid again after a lapse.
  case reactivated = 3
  /// Paid again within the retry horizon of an involuntary end.
  case recovered = 4
  /// Active again after a pause.
  case resumed = 5
  /// Moved here from another product of the same lineage.
  case transferIn = 6
  /// Ended, and no charge followed in time.
  case churned = 7
  /// Stopped by a pause.
  case paused = 8
  /// Moved to another product of the same lineage.
  case transferOut = 9
  /// Part of `churned`: auto-renew was off; each churned subscription has exactly one reason.
  case churnedVoluntary = 10
  /// Part of `churned`: a payment failed.
  case churnedInvoluntary = 11
  /// Part of `churned`: a full refund or a revocation ended it.
  case churnedRefund = 12
  /// Part of `churned`: the user did not agree to a higher price.
  case churnedPriceIncrease = 13
  /// Part of `churned`: the developer ended it.
  case churnedDeveloper = 14
  /// Part of `churned`: no reason is known.
  case churnedUnknown = 15
  /// Active when the month opened, with an end in the month, and neither active nor paused at its
  /// close.
  case lost = 16
  /// +1 when an active subscription is set not to renew, −1 when that is undone.
  case autoRenewOff = 17
  /// A higher local price per month for the same product.
  case expansion = 18
  /// A lower local price per month for the same product; positive.
  case contraction = 19
  /// The same local price in other US dollars; signed.
  case fx = 20
  /// Part of `churned`: an event that never arrived may contradict the end.
  case churnedInDoubt = 21

  /// Its effect on the number of active subscriptions: 1, −1 or 0.
  public var activeSign: Int64 {
    switch self {
    case .new, .firstSeen, .reactivated, .recovered, .resumed, .transferIn: 1
    case .churned, .paused, .transferOut: -1
    case .churnedVoluntary, .churnedInvoluntary, .churnedRefund, .churnedPriceIncrease,
      .churnedDeveloper, .churnedUnknown, .churnedInDoubt, .lost, .autoRenewOff, .expansion,
      .contraction, .fx:
      0
    }
  }

  /// Whether it is the reason for a churn, in addition to the movement that counts the churn.
  public var isReason: Bool {
    Self.churnedVoluntary.rawValue...Self.churnedUnknown.rawValue ~= rawValue
  }

  /// Its effect on monthly recurring revenue: 1, −1 or 0.
  public var revenueSign: Int64 {
    switch self {
    case .expansion, .fx: 1
    case .contraction: -1
    default: activeSign
    }
  }
}

/// An end that counts as churn and is covered by a `MISSED_*` break.
public struct ChurnInDoubt: Codable, Sendable, Hashable {
  /// Key of the lineage that ended.
  public var lineage: Int64
  /// The row of the churn report that counts it.
  public var productKey: ProductKey
  /// The effective end, by which the churn is counted.
  public var at: Instant

  /// The end of `lineage` at `at`.
  public init(lineage: Int64, productKey: ProductKey, at: Instant) {
    self.lineage = lineage
    self.productKey = productKey
    self.at = at
  }
}

/// The key of one movement cell.
public struct MovementKey: Sendable, Hashable {
  /// The month in which it takes effect, in the report's time zone.
  public var month: Month
  /// The row it enters, leaves or changes.
  public var productKey: ProductKey
  /// The kind of movement.
  public var movement: Movement

  /// A movement of a product in a month.
  public init(month: Month, productKey: ProductKey, movement: Movement) {
    self.month = month
    self.productKey = productKey
    self.movement = movement
  }
}

/// The measures of one movement cell.
public struct MovementSums: Sendable, Hashable {
  /// How many subscriptions moved; only `autoRenewOff` is signed.
  public var subscriptions: Int64 = 0
  /// Monthly recurring revenue that moved, in US dollars.
  public var mrr = Amount.zero

  /// The measures; zero by default.
  public init(subscriptions: Int64 = 0, mrr: Amount = .zero) {
    self.subscriptions = subscriptions
    self.mrr = mrr
  }

  /// Adds other movements of the cell; a factor of -1 subtracts them.
  public mutating func add(
    _ other: MovementSums, times factor: Int64 = 1
  ) throws(AmountOverflow) {
    subscriptions += factor * other.subscriptions
    mrr = try mrr.adding(other.mrr, times: factor)
  }
}

/// The key of one renewals cell.
public struct RenewalKey: Sendable, Hashable {
  /// The month of the charge; for a refund, the month of the refund.
  public var month: Month
  /// The renewed product.
  public var productKey: ProductKey
  /// The renewal's number; nil when neither the lineage's start nor a counter was seen.
  @Compact public var ordinal: Int64?

  /// The renewals with number `ordinal` of a product in a month.
  public init(month: Month, productKey: ProductKey, ordinal: Int64?) {
    self.month = month
    self.productKey = productKey
    self.ordinal = ordinal
  }
}

/// The measures of one renewals cell.
public struct RenewalSums: Sendable, Hashable {
  /// Renewals charged.
  public var renewals: Int64 = 0
  /// Renewals refunded, each at its first refund.
  public var refunded: Int64 = 0

  /// Nothing renewed yet.
  public init() {}

  /// Adds renewals of the cell; a factor of -1 subtracts them.
  public mutating func add(_ other: RenewalSums, times factor: Int64 = 1) {
    renewals += factor * other.renewals
    refunded += factor * other.refunded
  }
}

/// The key of a cell that has only a day and a product.
public struct ProductDay: Sendable, Hashable {
  /// A day in the report's time zone.
  public var day: Day
  /// The product.
  public var productKey: ProductKey

  /// A product on a day.
  public init(day: Day, productKey: ProductKey) {
    self.day = day
    self.productKey = productKey
  }
}

/// Trials by the day of their start: started = converted + expired + pending.
public struct TrialSums: Sendable, Hashable {
  /// Trials started on the day.
  public var started: Int64 = 0
  /// Of these, those followed by a first paid period.
  public var converted: Int64 = 0
  /// Of these, those with auto-renew off before the end, converted or not.
  public var canceled: Int64 = 0
  /// Of these, those that ended without a paid period.
  public var expired: Int64 = 0
  /// Of these, those still undecided.
  public var pending: Int64 = 0

  /// No trials yet.
  public init() {}

  /// Adds trials of the cell; a factor of -1 subtracts them.
  public mutating func add(_ other: TrialSums, times factor: Int64 = 1) {
    started += factor * other.started
    converted += factor * other.converted
    canceled += factor * other.canceled
    expired += factor * other.expired
    pending += factor * other.pending
  }
}

/// The key of one retention cell.
public struct RetentionKey: Sendable, Hashable {
  /// The month of the lineage's first paid period.
  public var cohort: Month
  /// The product bought then.
  public var productKey: ProductKey
  /// Months since the cohort's month.
  public var index: Int32

  /// Month `index` of a cohort.
  public init(cohort: Month, productKey: ProductKey, index: Int32) {
    self.cohort = cohort
    self.productKey = productKey
    self.index = index
  }
}

/// The measures of one retention cell, as changes.
public struct RetentionSums: Sendable, Hashable {
  /// Lineages that joined; only at index 0.
  public var joined: Int64 = 0
  /// Change in the number of active lineages from the end of the previous month to the end of this
  /// one.
  public var activeChange: Int64 = 0
  /// Charges minus refunds of the month, before commission, in US dollars.
  public var netUSD = PartialSum()

  /// Nothing yet.
  public init() {}

  /// Adds other subscriptions of the cohort; a factor of -1 subtracts them.
  public mutating func add(_ other: RetentionSums, times factor: Int64 = 1) {
    joined += factor * other.joined
    activeChange += factor * other.activeChange
    netUSD.add(other.netUSD, times: factor)
  }
}
