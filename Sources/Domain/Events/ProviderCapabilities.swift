/// What one body of a provider contains.
public enum BodyContent: Sendable, Hashable {
  /// One event.
  case event
  /// The state of one purchase.
  case purchase
  /// The state of all purchases of a user; in iaptic's newer bodies also the reason for the
  /// message.
  case collection
}

/// What a provider sends, and how.
public struct ProviderCapabilities: Sendable {
  /// What one body contains.
  public let body: BodyContent
  /// Whether original transaction ids stay the same across renewals, lapses and product changes.
  ///
  /// If not, subscriptions are assembled from all purchases of a user.
  public var hasStableOriginalID = false
  /// Whether a renewal outside Play identifies the renewed purchase or the user.
  ///
  /// On Play every renewal does: its order id contains that of the first order.
  public var linksRenewalsOutsidePlay = true
  /// Whether it sends money at all.
  public var sendsMoney = false
  /// Whether each charge has its amount and the end of its period.
  ///
  /// If so, a charge without them is an anomaly. For other providers it is normal, and the price
  /// book and product lengths fill in.
  public var sendsWholeCharges = false
  /// Whether it sends period ends.
  ///
  /// If not, the end follows from the product's length or from when an expiration was noticed.
  public var sendsPeriodEnds = true
  /// Whether the grace end has its own field; else the period's end is the grace end.
  public var sendsGraceEnds = false
  /// Whether a renewal contains its ordinal.
  public var sendsRenewalOrdinals = false
  /// Whether the first payment after a trial has its own event name; else it is called a renewal.
  public var namesConversions = false
  /// Whether each end has an event, so that a missing one proves a lost delivery.
  public var sendsExpirations = false
  /// Whether each end has a reason.
  public var sendsEndReasons = false
  /// Whether an event reports that the store gave up collecting, so that a cancel is always the
  /// user's.
  public var sendsInvoluntaryEnds = false
  /// Whether a recovered payment and a restart after a lapse have their own events, so that a
  /// renewal always follows a paid period.
  public var sendsRestarts = false
  var sendsSubscriptionRefunds = true
  var sendsOneTimeRefunds = true
  /// Whether a purchase is reported however late its receipt is uploaded.
  public var announcesLateUploads = true
  /// Whether it reports that auto-renew was switched on again.
  public var sendsAutoRenewOn = false
  /// Whether pauses are sent.
  public var sendsPauses = false
  /// Whether trials are marked.
  public var marksTrials = true
  /// Whether test purchases are marked.
  public var marksSandbox = true
  /// Whether some bodies lack their app.
  public var omitsApps = false
  /// Whether a purchase can belong to several users, in turn or at once, without notice.
  public var sharesPurchases = false
  /// Whether snapshots list the newest purchase of each product, including past products.
  public var listsPastProducts = false
  /// Whether events can be renamed in its dashboard, so that the configuration must list the names.
  public var renamesEvents = false
  /// Whether snapshots name its dashboard's products instead of the store's.
  public var namesDashboardProducts = false
  /// Whether webhooks contain all entitlements of their user.
  public var sendsEntitlements = false

  /// Whether a renewal in `store` identifies the renewed purchase or the user.
  public func linksRenewals(in store: Store) -> Bool {
    linksRenewalsOutsidePlay || store == .playStore
  }

  /// Whether refunds of products of this type are sent.
  public func sendsRefunds(of type: ProductType) -> Bool {
    type == .oneTime ? sendsOneTimeRefunds : sendsSubscriptionRefunds
  }
}

/// How a provider delivers messages, and how its API answers about a user.
public struct ProviderInterface: Sendable {
  /// What the `Authorization` header contains.
  public enum Authorization: Sendable {
    /// Nothing: the provider publishes no authorisation.
    case none
    /// The key itself.
    case bearer
    /// A name and a key with a colon between them, in Base64.
    case basic
  }

  /// When an undelivered message is sent again.
  public var retries = RetrySchedule.firstOnly
  /// The schedule of an older documentation page, used where it fits more deliveries than
  /// `retries`.
  public var olderRetries: RetrySchedule?
  /// How long the provider keeps its record of a delivery; nil when not published.
  public var recordsKept: Interval?
  /// The API's host; empty where no API is published.
  public var host = ""
  /// The path of the request, in which `{user_id}`, `{app_id}` and `{record}` are replaced.
  ///
  /// A record is `purchases` (the store's transactions) or `entitlements` (what a user may use).
  public var path = ""
  /// Whether the request names the app.
  public var asksByApp: Bool { path.contains("{app_id}") }
  /// The path in the previous API, which returns all records at once; nil without one.
  public var olderPath: String?
  /// How the request is authorised.
  public var authorization = Authorization.none
  /// The records that complete each other, one request each.
  public var records: [FetchRequest.Record] = [.purchases]
  /// The member of a response that lists what the user has.
  public var list = "purchases"
  /// The member that names the user in a snapshot of this shape.
  public var user = "user"
  /// How to authorise the request, or what to do where no API is published.
  public let note: String
}
