/// The systems whose webhooks the ledger understands.
///
/// Raw values are stored in the ledger and never change their meaning. The values below describe
/// the differences between providers; no other code compares providers.
public enum Provider: UInt8, NamedCode {
  case qonversion = 1
  /// IAPGUARD by FLOBUK.
  case flobuk = 2
  case iaptic = 3
  case purple = 4

  /// The provider's capabilities.
  public var capabilities: ProviderCapabilities {
    switch self {
    case .qonversion: .qonversion
    case .flobuk: .flobuk
    case .iaptic: .iaptic
    case .purple: .purple
    }
  }

  /// The provider's delivery and API.
  public var interface: ProviderInterface {
    switch self {
    case .qonversion: .qonversion
    case .flobuk: .flobuk
    case .iaptic: .iaptic
    case .purple: .purple
    }
  }
}

/// One stream of deliveries: everything that a provider sends about an app.
public struct Feed: Sendable, Hashable {
  /// The sender.
  public var provider: Provider
  /// The ledger's symbol of the app; 0 when unknown.
  public var app: StringID

  /// The stream of `provider` about `app`.
  public init(provider: Provider, app: StringID) {
    self.provider = provider
    self.app = app
  }
}

extension ProviderCapabilities {
  // Sources: the webhook page with its list of events, `revenue`, `expires`,
  // `grace_period_expires`, `subscription_renew_count` and `environment`; bodies of 2020 lack
  // money and period ends.
  static let qonversion = ProviderCapabilities(
    body: .event, hasStableOriginalID: true, sendsMoney: true, sendsWholeCharges: true,
    sendsGraceEnds: true, sendsRenewalOrdinals: true, namesConversions: true,
    sendsExpirations: true, renamesEvents: true, namesDashboardProducts: true,
    sendsEntitlements: true)

  // Sources: the webhook page, `data`, which has no money and does not mark refunds and trials.
  // `transaction` changes with each renewal, and messages that a store triggers have no user. The
  // codes of `status` are not published. In alias mode up to six users share a purchase; in
  // transfer mode it moves between users. Get User lists past products.
  static let flobuk = ProviderCapabilities(
    body: .purchase, linksRenewalsOutsidePlay: false, sendsSubscriptionRefunds: false,
    sendsOneTimeRefunds: false, sendsAutoRenewOn: true, marksTrials: false, sharesPurchases: true,
    listsPastProducts: true)

  // Sources: the webhook page; amounts and `expirationDate` may be missing or null. Each entitled
  // user gets a collection, `purchaseId` changes with each purchase, and nothing announces that a
  // purchase is no longer in the collection.
  static let iaptic = ProviderCapabilities(
    body: .collection, sendsMoney: true, sendsEndReasons: true, sendsAutoRenewOn: true,
    sendsPauses: true, listsPastProducts: true)

  // Sources: Receipt Events: no money, no period ends, no sandbox;
  // SUBSCRIPTION_CANCELLED_INVOLUNTARY; PRODUCT_CANCELLED is for one-time purchases only; early
  // versions have no original ids; the example has no app; a purchase whose receipt is uploaded
  // more than 10 minutes later is not announced.
  static let purple = ProviderCapabilities(
    body: .event, sendsPeriodEnds: false, sendsInvoluntaryEnds: true, sendsRestarts: true,
    sendsSubscriptionRefunds: false, announcesLateUploads: false, marksSandbox: false,
    omitsApps: true)
}

extension ProviderInterface {
  // Sources: the webhook page (about 1 min, 6 min, 4 h, 8 h and 24 h after the first attempt; "the
  // tracking record lives 7 days"); API reference v4, purchases and entitlements of a user.
  static let qonversion = ProviderInterface(
    retries: RetrySchedule(delays: [0, 60, 360, 14_400, 28_800, 86_400]),
    recordsKept: .days(7), host: "api.qonversion.io", path: "/v4/users/{user_id}/{record}",
    olderPath: "/v3/users/{user_id}/entitlements", authorization: .bearer,
    records: [.entitlements, .purchases], list: "data", user: "user_id",
    note: "Bearer with the project's secret key; page on with starting_after while has_more")

  // Sources: the webhook page of IAPGUARD, which FLOBUK's validator became (10 min, 60 min, 4 h,
  // 12 h, 12 h, 12 h, each after the previous one), and FLOBUK's own (every 5 minutes up to 30
  // minutes); the "user" endpoint of the receipt validator.
  static let flobuk = ProviderInterface(
    retries: RetrySchedule(delays: [0, 600, 4_200, 18_600, 61_800, 105_000, 148_200]),
    olderRetries: RetrySchedule(delays: [0, 300, 600, 900, 1_200, 1_500, 1_800]),
    host: "api.iapguard.com", path: "/v1/user/{app_id}/{user_id}",
    note: "no authorisation is published; user records must be switched on in the dashboard")

  // Source: Fovea's "customer purchases"; no retry schedule is published.
  static let iaptic = ProviderInterface(
    host: "validator.fovea.cc", path: "/v2/customers/{user_id}/purchases",
    authorization: .basic, user: "applicationUsername",
    note: "Basic with app name and secret key; the answer holds the last purchase per product")

  /// Purple's interface: sprylab publishes neither an API nor a retry schedule.
  static let purple = ProviderInterface(
    note: "sprylab publishes no API: ask sprylab for the user's purchases")
}
