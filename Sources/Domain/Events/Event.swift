/// A word that occurs often (an app, a product, a currency), as a small number.
///
/// 0 is the empty word. The table of a symbol depends on its place: in an `EventBatch` it is the
/// batch's own, in the ledger and the fold it is the ledger's.
public typealias StringID = Int32

/// Where a line stands: the archive, its line and the byte where its JSON value begins.
///
/// Places are in the order in which archives were read.
public struct Provenance: Codable, Sendable, Hashable, Comparable {
  /// Offset of the value's first byte in the inflated archive, from 0.
  public var byteOffset: Int64
  /// Physical line, from 1.
  public var line: Int64
  /// The ledger's number of the archive.
  public var archive: Int32

  /// A place in `archive`.
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
  /// Contribution that stays after commission, in percent; nil when not sent.
  @Compact public var rate: Amount?
  /// ISO 4217 code, the symbol 0 when not sent.
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

  /// Whether an amount was sent, be it zero, rather than a currency or a rate alone.
  public var hasAmount: Bool { local != nil || usd != nil }
}

/// The price that a provider shows beside an event; never a stand-in for revenue.
public struct Price: Sendable, Hashable {
  /// In the currency of the charge.
  @Compact public var local: Amount?
  /// In US dollars.
  @Compact public var usd: Amount?
  /// ISO 4217 code, the symbol 0 when not sent.
  public var currency: StringID

  /// A price as a provider sent it.
  public init(local: Amount? = nil, usd: Amount? = nil, currency: StringID = 0) {
    self.local = local
    self.usd = usd
    self.currency = currency
  }
}

/// The state of one purchase from a provider that sends states, beside the fields of events.
///
/// The fold compares a purchase's observations in business order and derives the events between
/// them. The end of the period is in the event's `periodEnd`, the reason of an end in its `reason`.
public struct Observation: Sendable, Hashable {
  /// When the purchase was first made; nil when not sent.
  @Compact public var firstPurchasedAt: Instant?
  /// When it was charged last; nil when not sent.
  @Compact public var lastChargedAt: Instant?
  /// When auto-renew was switched on or off last; nil when not sent.
  @Compact public var autoRenewChangedAt: Instant?
  /// The group in which only one product can be held; 0 when not sent.
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
  /// Whether the purchase waits for its payment, so that nothing is charged yet.
  public var isPending = false
  /// Whether another product took the place of this one.
  public var isReplaced = false
  /// Whether a family member shares it: this user is not charged.
  public var isShared = false
  /// Whether the event's time is only the end of the period, because the body has no other.
  public var isUndated = false
  /// Whether the body has no date of its own, so that the event's time is the latest time in the
  /// state, the earliest at which the state can be true.
  public var isTimeInferred = false

  /// A state without any known field.
  public init() {}
}

/// One thing that happened to one subscription or purchase, in numbers only.
///
/// Texts (ids) stand beside it in an `EventBatch`; the fold needs only to compare them.
///
/// Fields stand in an order that leaves no room between them: a fold group is held with all of its
/// events.
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
  /// Business time, as the provider gives it.
  public var time: Instant
  /// Which delivery of a whole collection of purchases it came in; 0 for none.
  ///
  /// A purchase that a later collection of the user lacks has vanished.
  public var collection: Int64 = 0
  /// When the provider made the message.
  @Compact public var created: Instant?
  /// When the archive's endpoint received it.
  @Compact public var received: Instant?
  /// The transaction's own date.
  @Compact public var periodStart: Instant?
  /// The end of the period as sent; for refunds and upgrades often the event's own time.
  @Compact public var periodEnd: Instant?
  /// The end of the grace period after a failed payment; nil when there is none.
  @Compact public var graceEnd: Instant?
  /// The end of the entitlement in the body that the product change granted.
  @Compact public var entitledUntil: Instant?
  /// The archive, line and byte that brought the event.
  public var place = Provenance()
  /// The provider's own name of the event.
  public var name: StringID = 0
  /// The price shown beside the event; it never replaces revenue.
  public var price: Price?
  /// The offer at which it was bought: the store's id, or `intro` where the provider sends only
  /// that it is an introductory one; 0 for the full price.
  public var offer: StringID = 0
  /// Store product id; for a product change, the new product.
  public var product: StringID = 0
  /// Nil when the body has no revenue object, or an empty one.
  public var revenue: Revenue?
  /// How many of the product its money is for.
  public var units: Int32 = 1
  /// The provider's counter: first renewal = 1, at most `renewalCountMax`; nil when not sent.
  public var renewalCount: Int32?
  /// The provider that sent it.
  public var provider: Provider
  /// Whether money really moved.
  public var environment: Environment
  /// The shop that took the money.
  public var store: Store
  /// What happened.
  public var kind: EventKind
  /// Whether the event can begin a subscription: its transaction id is the original one, or its
  /// store never gives the first transaction that id.
  public var startsLineage: Bool = true
  /// The provider's reason of an end.
  public var reason: ChurnReason?
  /// The state that came with it; nil for providers that send no states.
  public var observation: Observation?
  /// The provider's id of the app; 0 when unknown.
  public var app: StringID = 0
  /// For a product change, the product that was left.
  public var previousProduct: StringID = 0
  /// ISO 3166-1 code of the user's country; 0 when not sent.
  public var country: StringID = 0
  /// Country code of the shop's front; 0 when not sent.
  public var storefront: StringID = 0

  /// An event of `kind` at `time`; everything else is set by name.
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

  /// When it came: received, else made, else happened.
  public var arrivedAt: Instant { received ?? madeAt }

  /// When its message was made; when it happened, if the message does not contain that, or a clock
  /// was wrong.
  public var madeAt: Instant { hasImpossibleClock ? time : created ?? time }

  /// Whether the message was made more than an hour after it was received, or 20 years after its
  /// event, longer than the stores exist.
  public var hasImpossibleClock: Bool {
    guard let created else { return false }
    return received.map { created > $0 + .hour } ?? false || created > time + .days(20 * 365)
  }

  /// When the state was seen: at its time, or when it was received if it has no date of its own.
  ///
  /// Of copies the one received last counts, so that a state that comes back is seen last.
  public var seenAt: Instant {
    guard observation?.isTimeInferred == true, let received else { return time }
    return received
  }

  /// Whether the time is the message's own, not the last time in a state or the end of its period:
  /// such a state can arrive long after without being late.
  public var isTimed: Bool {
    guard kind == .observed else { return true }
    return provider.capabilities.body != .collection && observation?.isUndated != true
  }

  /// Whether it was received more than `window` after it was made.
  public func isLate(_ window: Interval) -> Bool {
    guard let received else { return false }
    return received > madeAt + window
  }

  /// The highest counter that is read: a renewal a day for 270 years.
  ///
  /// A greater number counts something else.
  public static let renewalCountMax: Int32 = 100_000

  /// Versions of an event that a subscription keeps, besides those that a published run used, and
  /// that are listed of it.
  public static let versionsMax = 64
}
