/// What a provider that sends states says of one purchase, beside the fields that events have.
///
/// The fold compares a purchase's observations in business order and derives what happened. The
/// end of the period stands in the event's `periodEnd`, the reason of an end in its `reason`.
public struct Observation: Sendable, Hashable {
  /// What kind of thing was bought; nil when the body does not tell.
  public var productType: ProductType?
  /// Whether the user has access; nil when the body does not tell.
  public var isOwned: Bool?
  /// Whether auto-renew is on; nil when the body does not tell.
  public var isAutoRenewing: Bool?
  /// When auto-renew was switched on or off last; nil when not sent.
  public var autoRenewChangedAt: Instant?
  /// Whether the store is trying to collect a failed payment; nil when the body does not tell.
  public var isInBillingRetry: Bool?
  /// Whether the period costs nothing; nil when the body does not tell.
  public var isTrial: Bool?
  /// Whether the purchase waits for its payment, so that nothing is charged yet.
  public var isPending = false
  /// Whether another product took the place of this one.
  public var isReplaced = false
  /// Whether a family member shares it: nothing is charged to this user.
  public var isShared = false
  /// When the purchase was first made; nil when not sent.
  public var firstPurchasedAt: Instant?
  /// When it was charged last; nil when not sent.
  public var lastChargedAt: Instant?
  /// The group in which only one product can be held; 0 when not sent.
  public var group: StringID = 0
  /// Whether the event's time is only the end of the period, because the body tells no other.
  public var isUndated = false
  /// Whether the body has no date of its own, so that the event's time is only the latest thing
  /// that the state says has happened: it was true then at the earliest.
  public var isTimeInferred = false

  /// A state of which nothing is known yet.
  public init() {}
}
