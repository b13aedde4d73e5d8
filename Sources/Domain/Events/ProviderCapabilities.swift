/// What one body of a provider holds.
public enum BodyContent: Sendable, Hashable {
  /// One event.
  case event
  /// The state of one purchase.
  case purchase
  /// The state of all purchases of a user; in iaptic's newer bodies also the reason.
  case collection
}

/// What a provider sends, and how.
public struct ProviderCapabilities: Sendable {
  /// What one body holds.
  public let body: BodyContent
  /// Whether its original transaction ids stay over renewals, lapses and changes of product.
  ///
  /// Otherwise subscriptions are put together from all purchases of a user.
  public var hasStableOriginalID = false
  /// Whether a renewal outside Play names what is renewed, or who renews.
  ///
  /// On Play each does: its order id contains that of the first order.
  public var linksRenewalsOutsidePlay = true
  /// Whether it sends money at all.
  public var sendsMoney = false
  /// Whether each charge comes with its amount and the end of its period.
  ///
  /// A charge without them is odd then. For other providers it is the rule, and the price book and
  /// the lengths of products replace them.
  public var sendsWholeCharges = false
  /// Whether it sends ends of periods.
  ///
  /// Otherwise an end follows from the product's length, or from when an expiration was noticed.
  public var sendsPeriodEnds = true
  /// Whether the end of grace has a field of its own; else the period's end is that of the grace.
  public var sendsGraceEnds = false
  /// Whether a renewal brings its ordinal.
  public var sendsRenewalOrdinals = false
  /// Whether the first payment after a trial has a name of its own; else it is called a renewal.
  public var namesConversions = false
  /// Whether each end has an event, so that a missing one proves a loss.
  public var sendsExpirations = false
  /// Whether each end has a reason.
  public var sendsEndReasons = false
  /// Whether a store that gave up collecting has an event of its own, so that a cancel is always
  /// the user's.
  public var sendsInvoluntaryEnds = false
  /// Whether a recovered payment and a restart after a lapse have events of their own, so that a
  /// renewal follows a period that was paid for.
  public var sendsRestarts = false
  /// Whether refunds of subscriptions are sent.
  public var sendsSubscriptionRefunds = true
  /// Whether refunds of one-time purchases are sent.
  public var sendsOneTimeRefunds = true
  /// Whether a purchase is announced however late its receipt is uploaded.
  public var announcesLateUploads = true
  /// Whether auto-renew that is switched on again is sent.
  public var sendsAutoRenewOn = false
  /// Whether pauses are sent.
  public var sendsPauses = false
  /// Whether trials are marked.
  public var marksTrials = true
  /// Whether test purchases are marked.
  public var marksSandbox = true
  /// Whether some bodies lack their app.
  public var omitsApps = false
  /// Whether one purchase may belong to several users, in turn or at once, without notice.
  public var sharesPurchases = false
  /// Whether its snapshots list the newest purchase of each product, also of past products.
  public var listsPastProducts = false
  /// Whether its dashboard can rename events, which the configuration then lists.
  public var renamesEvents = false
  /// Whether its snapshots name products of its dashboard instead of the store's.
  public var namesDashboardProducts = false

  /// Whether a renewal in `store` names what is renewed, or who renews.
  public func linksRenewals(in store: Store) -> Bool {
    linksRenewalsOutsidePlay || store == .playStore
  }

  /// Whether refunds of things of this type are sent.
  public func sendsRefunds(of type: ProductType) -> Bool {
    type == .oneTime ? sendsOneTimeRefunds : sendsSubscriptionRefunds
  }
}

/// How a provider's messages are delivered, and where its own interface answers about a user.
public struct ProviderInterface: Sendable {
  /// What the header `Authorization` holds.
  public enum Authorization: Sendable {
    /// Nothing: the provider publishes no way.
    case none
    /// The key itself.
    case bearer
    /// A name and a key with a colon between them, in Base64.
    case basic
  }

  /// When a message that was not taken is sent again.
  public var retries = RetrySchedule.firstOnly
  /// The schedule of an older page, which counts where it fits more deliveries than `retries`.
  public var olderRetries: RetrySchedule?
  /// How long the provider keeps its record of a delivery; nil where it publishes none.
  public var recordsKept: Interval?
  /// The host that answers about a user; empty where no interface is published.
  public var host = ""
  /// The path of the question, in which `{user_id}`, `{app_id}` and `{record}` are replaced.
  ///
  /// A record is `purchases`, the store's transactions, or `entitlements`, what a user may use.
  public var path = ""
  /// Whether the question names the app.
  public var asksByApp: Bool { path.contains("{app_id}") }
  /// The same for the API before it, which answers about all records at once; nil without one.
  public var olderPath: String?
  /// How the question is authorised.
  public var authorization = Authorization.none
  /// The records that complete each other, one question each.
  public var records: [FetchRequest.Record] = [.purchases]
  /// The member of an answer that lists what the user has.
  public var list = "purchases"
  /// The member that names the user in a snapshot of that shape.
  public var user = "user"
  /// How to authorise the question, or what to do where no interface is published.
  public let note: String
}
