/// How a subscription, or its monthly recurring revenue, enters, leaves or changes a row.
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
  /// Came from another product of the same lineage.
  case transferIn = 6
  /// An end without a charge that followed in time.
  case churned = 7
  /// Stopped by a pause.
  case paused = 8
  /// Left for another product of the same lineage.
  case transferOut = 9
  /// Of `churned`, with auto-renew off; each churned subscription has exactly one reason.
  case churnedVoluntary = 10
  /// Of `churned`, after a failed payment.
  case churnedInvoluntary = 11
  /// Of `churned`, ended by a whole refund or a revocation.
  case churnedRefund = 12
  /// Of `churned`, without consent to a higher price.
  case churnedPriceIncrease = 13
  /// Of `churned`, ended by the developer.
  case churnedDeveloper = 14
  /// Of `churned`, without a known reason.
  case churnedUnknown = 15
  /// Active at the month's open with an end in the month, neither active nor paused at its close.
  case lost = 16
  /// +1 when an active subscription is set not to renew, −1 when that no longer holds.
  case autoRenewOff = 17
  /// More local money per month for the same product.
  case expansion = 18
  /// Less local money per month for the same product; positive.
  case contraction = 19
  /// Same local price, other US dollars; signed.
  case fx = 20
  /// Of `churned`, those whose end an event that never came may contradict.
  case churnedInDoubt = 21

  /// What one of them does to the number of active subscriptions: 1, −1 or 0.
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

  /// Whether it is the reason of a churn, beside the movement that counts the churn.
  public var isReason: Bool {
    Self.churnedVoluntary.rawValue...Self.churnedUnknown.rawValue ~= rawValue
  }

  /// What its revenue does to monthly recurring revenue: 1, −1 or 0.
  public var revenueSign: Int64 {
    switch self {
    case .expansion, .fx: 1
    case .contraction: -1
    case .new, .firstSeen, .reactivated, .recovered, .resumed, .transferIn, .churned, .paused,
      .transferOut, .churnedVoluntary, .churnedInvoluntary, .churnedRefund, .churnedPriceIncrease,
      .churnedDeveloper, .churnedUnknown, .churnedInDoubt, .lost, .autoRenewOff:
      activeSign
    }
  }
}

/// An end that counts as churn and that a `MISSED_*` break covers.
public struct ChurnInDoubt: Codable, Sendable, Hashable {
  /// Key of the lineage that ended.
  public var lineage: Int64
  /// The row of the churn report that counts it.
  public var productKey: ProductKey
  /// The effective end, by which it is counted.
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
  /// What moved.
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
  /// How many subscriptions moved; signed for `autoRenewOff` alone.
  public var subscriptions: Int64 = 0
  /// Monthly recurring revenue moved, in US dollars.
  public var mrr = Amount.zero

  /// What moved; nothing yet.
  public init(subscriptions: Int64 = 0, mrr: Amount = .zero) {
    self.subscriptions = subscriptions
    self.mrr = mrr
  }
}

/// The key of one renewals cell.
public struct RenewalKey: Sendable, Hashable {
  /// The month of the charge; for a refund, the month of the refund.
  public var month: Month
  /// The renewed product.
  public var productKey: ProductKey
  /// Nil when neither the lineage's start nor a counter was seen.
  @Compact public var ordinal: Int64?

  /// Renewals number `ordinal` of a product in a month.
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
  /// Renewals refunded for the first time.
  public var refunded: Int64 = 0

  /// Nothing renewed yet.
  public init() {}
}

/// The key of a cell that has only a day and a product.
public struct ProductDay: Sendable, Hashable {
  /// A day in the report's time zone.
  public var day: Day
  /// The offered product.
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
  /// Of these, the ones followed by a first paid period.
  public var converted: Int64 = 0
  /// Of these, those with auto-renew off before the end, converted or not.
  public var canceled: Int64 = 0
  /// Of these, the ones that ended without a paid period.
  public var expired: Int64 = 0
  /// Of these, the ones still undecided.
  public var pending: Int64 = 0

  /// No trials yet.
  public init() {}
}

/// The key of one retention cell.
public struct RetentionKey: Sendable, Hashable {
  /// The month of the lineage's first paid period.
  public var cohort: Month
  /// The product bought then.
  public var productKey: ProductKey
  /// Months since the cohort's.
  public var index: Int32

  /// Month `index` of a cohort.
  public init(cohort: Month, productKey: ProductKey, index: Int32) {
    self.cohort = cohort
    self.productKey = productKey
    self.index = index
  }
}

/// The measures of one retention cell, as movements.
public struct RetentionSums: Sendable, Hashable {
  /// Lineages that joined; only at index 0.
  public var joined: Int64 = 0
  /// Net change of active lineages at the end of the month against the month before.
  public var activeChange: Int64 = 0
  /// Booked in the month less refunds, in US dollars before commission.
  public var netUSD = PartialSum()

  /// Nothing yet.
  public init() {}
}
