/// A provider's record of one user at one moment.
public struct Snapshot: Sendable, Equatable {
  /// The provider.
  public var provider: Provider
  /// App id if the snapshot contains one, else empty.
  public var app: String
  /// User id as the provider writes it.
  public var user: String
  /// When the state was true.
  public var capturedAt: Instant
  /// The user's access rights, in the order of the snapshot.
  public var entitlements: [Entitlement]
  /// The file, line and byte of the snapshot.
  public var place: Provenance
  /// Whether a webhook contained it: then only what is active and until when is certain, since it
  /// can be older or newer than its event.
  public var isOfWebhook: Bool

  /// A snapshot of `user`.
  public init(
    provider: Provider, app: String = "", user: String, capturedAt: Instant,
    entitlements: [Entitlement], place: Provenance = Provenance(), isOfWebhook: Bool = false
  ) {
    self.provider = provider
    self.app = app
    self.user = user
    self.capturedAt = capturedAt
    self.entitlements = entitlements
    self.place = place
    self.isOfWebhook = isOfWebhook
  }
}

/// Whether and how an entitlement continues.
///
/// Raw values are from the Qonversion SDK.
public enum RenewState: Int8, CaseIterable, Sendable {
  /// Nothing renews.
  case nonRenewable = -1
  /// The provider does not know.
  case unknown = 0
  /// Auto-renew is on.
  case willRenew = 1
  /// Auto-renew is off; access continues until the end.
  case canceled = 2
  /// The last payment failed; the store tries again.
  case billingIssue = 3
}

/// Where an entitlement or a transaction comes from.
public enum GrantType: UInt8, NamedCode {
  /// The user paid.
  case purchase = 0
  /// A family member paid.
  case familySharing = 1
  /// The user redeemed a code.
  case offerCode = 2
  /// A person granted it manually.
  case manual = 3
}

/// The kind of a snapshot transaction.
public enum SnapshotTransactionKind: UInt8, CaseIterable, Sendable {
  /// The snapshot does not contain it.
  case unknown = 0
  /// A trial began, without payment.
  case trialStarted = 1
  /// A subscription began.
  case started = 2
  /// A further period was paid.
  case renewed = 3
  /// A subscription began at an introductory price.
  case introStarted = 4
  /// Renewed at an introductory price.
  case introRenewed = 5
  /// A one-time purchase.
  case oneTime = 6
  /// A period that cost nothing, in a shape without types: usually a trial.
  case free = 7
}

/// One access right of a user.
public struct Entitlement: Sendable, Equatable {
  /// The entitlement's name, or the original transaction id where the snapshot lists only
  /// purchases.
  public var id: String
  /// Product id as the snapshot names it: for Qonversion entitlements the dashboard's, for
  /// purchases the store's.
  public var product = ""
  /// Nil if the shape lacks it.
  public var isActive: Bool?
  /// When access began; nil when not sent.
  public var startedAt: Instant?
  /// When a trial began; nil without one, or when not sent.
  public var trialStartedAt: Instant?
  /// When its first purchase was made; nil when not sent.
  public var firstPurchasedAt: Instant?
  /// When its latest purchase was made; nil when not sent.
  public var lastPurchasedAt: Instant?
  /// Whether the user has activated an offer code.
  public var hasOfferCode = false
  /// Nil for an entitlement without end, or when not sent.
  public var expiresAt: Instant?
  /// Whether and how it continues; nil when not sent.
  public var renewState: RenewState?
  /// Renewals so far, counted from the second paid transaction; nil when not sent.
  public var renewsCount: Int32?
  /// The store it was bought in; unknown when not sent.
  public var store = Store.unknown
  /// Its origin; a purchase when not sent.
  public var grant = GrantType.purchase
  /// Whether the current period is a trial; nil when not sent.
  public var isTrial: Bool?
  /// When auto-renew was switched off; nil when it is on, or when not sent.
  public var autoRenewOffAt: Instant?
  /// The store's transactions for it, in the order of the snapshot.
  public var transactions: [SnapshotTransaction] = []
}

extension Entitlement {
  /// An access right named `id`; all other fields are set by name.
  public init(id: String) { self.id = id }
}

/// One store transaction in a snapshot.
public struct SnapshotTransaction: Sendable, Equatable {
  /// Transaction id as the store writes it.
  public var id: String
  /// The original transaction id; empty when not sent, which means `id`.
  public var originalID = ""
  /// Its type; unknown if not sent.
  public var kind = SnapshotTransactionKind.unknown
  /// Store product id if the snapshot contains one, else empty.
  public var product = ""
  /// What it cost, in `currency`; nil when not sent or unreadable.
  public var price: Amount?
  /// ISO 4217 code of the price; empty when not sent.
  public var currency = ""
  /// When it happened; nil when not sent.
  public var at: Instant?
  /// The end of the period it paid for; nil when not sent or without end.
  public var expiresAt: Instant?
  /// When the store revoked it; nil when it did not, or when not sent.
  public var revokedAt: Instant?
  /// Whether real money moved; production when not sent.
  public var environment = Environment.production
  /// Whether the user or a family member paid; the user when not sent.
  public var grant = GrantType.purchase
}

extension SnapshotTransaction {
  /// A transaction of the store; all other fields are set by name.
  public init(id: String, originalID: String) {
    (self.id, self.originalID) = (id, originalID)
  }
}
