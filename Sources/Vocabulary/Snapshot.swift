/// What a provider says about one user at one moment.
public struct Snapshot: Sendable, Equatable {
  public var provider: Provider
  /// App id when the snapshot carries one, else empty.
  public var app: String
  public var user: String
  public var capturedAt: Instant
  public var entitlements: [Entitlement]
  public var place: Place

  /// A snapshot of `user`.
  public init(
    provider: Provider, app: String = "", user: String, capturedAt: Instant,
    entitlements: [Entitlement], place: Place = Place()
  ) {
    self.provider = provider
    self.app = app
    self.user = user
    self.capturedAt = capturedAt
    self.entitlements = entitlements
    self.place = place
  }
}

/// Whether and how an entitlement goes on. Raw values are those of the Qonversion SDK.
public enum RenewState: Int8, CaseIterable, Sendable {
  case nonRenewable = -1
  case unknown = 0
  case willRenew = 1
  case canceled = 2
  case billingIssue = 3
}

/// Where an entitlement comes from.
public enum GrantType: UInt8, CaseIterable, Sendable {
  case purchase = 0
  case familySharing = 1
  case offerCode = 2
  case manual = 3
}

/// Who owns a transaction.
public enum Ownership: UInt8, CaseIterable, Sendable {
  case owner = 0
  case familySharing = 1
}

/// What a snapshot transaction was.
public enum SnapshotTransactionKind: UInt8, CaseIterable, Sendable {
  case unknown = 0
  case trialStarted = 1
  case started = 2
  case renewed = 3
  case introStarted = 4
  case introRenewed = 5
  case oneTime = 6
}

/// One access right of a user.
public struct Entitlement: Sendable, Equatable {
  public var id: String
  /// Product id as the snapshot names it: for Qonversion entitlements the dashboard's, for
  /// purchases the store's.
  public var product: String
  /// Nil when the shape does not say.
  public var isActive: Bool?
  public var startedAt: Instant?
  /// Nil for an entitlement without end, or when not sent.
  public var expiresAt: Instant?
  public var renewState: RenewState?
  /// Renewals so far, counted from the second paid transaction; nil when not sent.
  public var renewsCount: Int32?
  public var store: Store
  public var grant: GrantType
  /// Whether the current period is a trial; nil when not sent.
  public var isTrial: Bool?
  /// Whether `transactions` is the full list rather than absent.
  public var listsTransactions: Bool
  public var transactions: [SnapshotTransaction]

  /// An access right named `id`.
  public init(
    id: String, product: String = "", isActive: Bool? = nil, startedAt: Instant? = nil,
    expiresAt: Instant? = nil, renewState: RenewState? = nil, renewsCount: Int32? = nil,
    store: Store = .unknown, grant: GrantType = .purchase, isTrial: Bool? = nil,
    listsTransactions: Bool = false, transactions: [SnapshotTransaction] = []
  ) {
    self.id = id
    self.product = product
    self.isActive = isActive
    self.startedAt = startedAt
    self.expiresAt = expiresAt
    self.renewState = renewState
    self.renewsCount = renewsCount
    self.store = store
    self.grant = grant
    self.isTrial = isTrial
    self.listsTransactions = listsTransactions
    self.transactions = transactions
  }
}

/// One store transaction in a snapshot.
public struct SnapshotTransaction: Sendable, Equatable {
  public var id: String
  /// Empty when not sent: then the own id.
  public var originalID: String
  public var kind: SnapshotTransactionKind
  /// Store product id when the snapshot carries one, else empty.
  public var product: String
  public var at: Instant?
  public var expiresAt: Instant?
  public var revokedAt: Instant?
  public var environment: Environment
  public var ownership: Ownership

  /// A transaction of the store.
  public init(
    id: String, originalID: String = "", kind: SnapshotTransactionKind = .unknown,
    product: String = "", at: Instant? = nil, expiresAt: Instant? = nil, revokedAt: Instant? = nil,
    environment: Environment = .production, ownership: Ownership = .owner
  ) {
    self.id = id
    self.originalID = originalID
    self.kind = kind
    self.product = product
    self.at = at
    self.expiresAt = expiresAt
    self.revokedAt = revokedAt
    self.environment = environment
    self.ownership = ownership
  }
}
