/// A small number for a string that occurs often, such as an app, a product or a currency.
///
/// Symbol 0 is the empty string. Each `EventBatch` has its own symbol table; the ledger and the
/// fold use the ledger's.
public typealias StringID = Int32

/// The position of a line: archive, line and first byte of its JSON value.
///
/// Positions are ordered as archives were read.
public struct Provenance: Codable, Sendable, Hashable, Comparable {
  /// Offset of the value's first byte in the inflated archive, from 0.
  public var byteOffset: Int64
  /// Physical line, from 1.
  public var line: Int64
  /// The archive's number in the ledger.
  public var archive: Int32

  /// A position in `archive`.
  public init(archive: Int32 = 0, line: Int64 = 0, byteOffset: Int64 = 0) {
    self.archive = archive
    self.line = line
    self.byteOffset = byteOffset
  }

  /// Orders by archive, line and byte.
  public static func < (left: Provenance, right: Provenance) -> Bool {
    (left.archive, left.line, left.byteOffset) < (right.archive, right.line, right.byteOffset)
  }
}

/// Money as a provider reports it.
public struct Revenue: Sendable, Hashable {
  /// In the currency of the charge; nil when not sent.
  @Compact public var local: Amount?
  /// In US dollars; nil when not sent.
  @Compact public var usd: Amount?
  /// Share that remains after commission, in percent; nil when not sent.
  @Compact public var rate: Amount?
  /// ISO 4217 code; symbol 0 when not sent.
  public var currency: StringID
  /// Whether the amounts are proceeds rather than the price; nil when not sent.
  public var isProceed: Bool?

  /// Money as a provider sent it.
  public init(
    local: Amount? = nil, usd: Amount? = nil, currency: StringID = 0, isProceed: Bool? = nil,
    rate: Amount? = nil
  ) {
    self.local = local
    self.usd = usd
    self.currency = currency
    self.isProceed = isProceed
    self.rate = rate
  }

  /// Whether an amount was sent, even zero, and not only a currency or a rate.
  public var hasAmount: Bool { local != nil || usd != nil }
}

/// A price before commission, in two currencies.
public struct Price: Sendable, Hashable {
  /// In the currency of the charge; nil when unknown.
  @Compact public var local: Amount?
  /// In US dollars; nil when unknown.
  @Compact public var usd: Amount?
  /// ISO 4217 code; symbol 0 when unknown.
  public var currency: StringID

  /// A price with the amounts that are known.
  public init(local: Amount? = nil, usd: Amount? = nil, currency: StringID = 0) {
    self.local = local
    self.usd = usd
    self.currency = currency
  }
}

/// The state of one purchase, from a provider that sends states, in addition to an event's fields.
///
/// The fold compares a purchase's observations in business order and derives the events between
/// them. The end of the period is in the event's `periodEnd`, the reason for an end in its
/// `reason`.
public struct Observation: Sendable, Hashable {
  /// When the purchase was first made; nil when not sent.
  @Compact public var firstPurchasedAt: Instant?
  /// When it was last charged; nil when not sent.
  @Compact public var lastChargedAt: Instant?
  /// When auto-renew was last switched on or off; nil when not sent.
  @Compact public var autoRenewChangedAt: Instant?
  /// The group in which a user can hold only one product; 0 when not sent.
  public var group: StringID = 0
  /// The type of product; nil if the body lacks it.
  public var productType: ProductType?
  /// Whether the user has access; nil if the body lacks it.
  public var isOwned: Bool?
  /// Whether auto-renew is on; nil if the body lacks it.
  public var isAutoRenewing: Bool?
  /// Whether the store is trying to collect a failed payment; nil if the body lacks it.
  public var isInBillingRetry: Bool?
  /// Whether the period costs nothing; nil if the body lacks it.
  public var isTrial: Bool?
  /// Whether the payment is still pending, so that nothing is charged yet.
  public var isPending = false
  /// Whether another product replaced this one.
  public var isReplaced = false
  /// Whether a family member shares it: this user is not charged.
  public var isShared = false
  /// Whether the event's time is only the end of the period because the body has no other time.
  public var isUndated = false
  /// Whether the body has no date of its own, so that the event's time is the latest time in the
  /// state: the earliest time at which the state can be true.
  public var isTimeInferred = false

  /// A state without any known field.
  public init() {}
}

/// One thing that happened to one subscription or purchase, as numbers only.
///
/// The texts of ids are stored separately in an `EventBatch`; the fold only compares ids.
///
/// Fields are in an order that avoids padding: a fold group is in memory with all of its events.
public struct Event: Sendable, Hashable {
  /// `lineageKey` of the subscription.
  public var lineage: Int64 = 0
  /// Fingerprint of provider, app, environment, store, transaction id, event time and kind.
  public var identity: Int64 = 0
  /// Fingerprint of the body's bytes.
  public var body: Int64 = 0
  /// Fingerprint of the user id; 0 when unknown.
  public var user: Int64 = 0
  /// `transactionKey` of the transaction id; 0 when unknown.
  public var transaction: Int64 = 0
  /// Business time, as the provider sends it.
  public var time: Instant
  /// The delivery of a whole collection of purchases that contained the event; 0 for none.
  ///
  /// A purchase that is missing from a later collection of the user has vanished.
  public var collection: Int64 = 0
  /// When the provider created the message.
  @Compact public var created: Instant?
  /// When the archive's endpoint received it.
  @Compact public var received: Instant?
  /// The transaction's own date.
  @Compact public var periodStart: Instant?
  /// The end of the period as sent; for refunds and upgrades often the event's own time.
  @Compact public var periodEnd: Instant?
  /// The end of the grace period after a failed payment; nil when there is none.
  @Compact public var graceEnd: Instant?
  /// The end of the entitlement in the body, which the product change granted.
  @Compact public var entitledUntil: Instant?
  /// The archive, line and byte of the event.
  public var place = Provenance()
  /// The provider's name for the event.
  public var name: StringID = 0
  /// The price sent with the event; it never replaces revenue.
  public var price: Price?
  /// The offer at which it was bought: the store's id, or `intro` where the provider only reports
  /// that it is an introductory offer; 0 for the full price.
  public var offer: StringID = 0
  /// Store product id; for a product change, the new product.
  public var product: StringID = 0
  /// Nil when the body has no revenue object or an empty one.
  public var revenue: Revenue?
  /// The quantity of the product that the money pays for.
  public var units: Int32 = 1
  /// The provider's counter: first renewal = 1, at most `renewalCountMax`; nil when not sent.
  public var renewalCount: Int32?
  /// The provider that sent it.
  public var provider: Provider
  /// Whether real money moved.
  public var environment: Environment
  /// The store that took the money.
  public var store: Store
  /// What happened.
  public var kind: EventKind
  /// Whether the event can start a subscription: its transaction id is the original one, or its
  /// store never uses the first transaction's id as the original one.
  public var startsLineage: Bool = true
  /// The provider's reason for an end.
  public var reason: ChurnReason?
  /// The state sent with it; nil for providers that send no states.
  public var observation: Observation?
  /// The provider's id of the app; 0 when unknown.
  public var app: StringID = 0
  /// For a product change, the previous product.
  public var previousProduct: StringID = 0
  /// ISO 3166-1 code of the user's country; 0 when not sent.
  public var country: StringID = 0
  /// Country code of the storefront; 0 when not sent.
  public var storefront: StringID = 0

  /// An event of `kind` at `time`; all other fields are set by name.
  public init(
    provider: Provider = .qonversion, environment: Environment = .production,
    store: Store = .unknown, kind: EventKind, time: Instant
  ) {
    self.provider = provider
    self.environment = environment
    self.store = store
    self.kind = kind
    self.time = time
  }

  /// The feed that sent it.
  public var feed: Feed { Feed(provider: provider, app: app) }

  /// When it arrived: received, else created, else event time.
  public var arrivedAt: Instant { received ?? createdAt }

  /// When its message was created; the event time if the message lacks that or a clock was wrong.
  public var createdAt: Instant { hasImpossibleClock ? time : created ?? time }

  /// Whether the message was created more than an hour after it was received, or more than 20 years
  /// after its event, which is longer than the stores exist.
  public var hasImpossibleClock: Bool {
    guard let created else { return false }
    return received.map { created > $0 + .hours(1) } ?? false || created > time + .days(20 * 365)
  }

  /// When the state was seen: at its time, or when it was received if it has no date of its own.
  ///
  /// Of several copies, the one received last counts: a state that returns was seen last.
  public var seenAt: Instant {
    guard observation?.isTimeInferred == true, let received else { return time }
    return received
  }

  /// Whether the time is the message's own, not the latest time in a state or the end of its
  /// period: such a state can arrive much later without being late.
  public var isTimed: Bool {
    guard kind == .observed else { return true }
    return provider.capabilities.body != .collection && observation?.isUndated != true
  }

  /// Whether it was received more than `window` after it was created.
  public func isLate(_ window: Interval) -> Bool {
    guard let received else { return false }
    return received > createdAt + window
  }

  /// The highest counter that is accepted: one renewal a day for 270 years.
  ///
  /// A higher number counts something else.
  public static let renewalCountMax: Int32 = 100_000

  /// The most versions of an event that a subscription keeps in addition to those that a published
  /// run used, and that are listed for it.
  public static let versionsMax = 64
}
