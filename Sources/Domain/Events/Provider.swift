/// The systems whose webhooks the ledger understands.
///
/// Raw values are stored in the ledger and never change their meaning. What differs between the
/// providers is a row of `ProviderCapabilities`; no other code compares them.
public enum Provider: UInt8, NamedCode {
  case qonversion = 1
  /// IAPGUARD by FLOBUK.
  case flobuk = 2
  case iaptic = 3
  case purple = 4
}

/// One stream of deliveries: all that a provider sends about an app.
public struct Feed: Sendable, Hashable {
  /// The sender.
  public var provider: Provider
  /// The ledger's number of the app.
  public var app: StringID

  /// The stream of `provider` about `app`.
  public init(provider: Provider, app: StringID) {
    self.provider = provider
    self.app = app
  }
}

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
  /// Whether each end has an event, so that a missing one proves a loss.
  public var sendsExpirations = false
  /// Whether each end has a reason.
  public var sendsEndReasons = false
  /// Whether a store that gave up collecting has an event of its own, so that a cancel is always
  /// the user's.
  public var sendsInvoluntaryEnds = false
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
  /// Whether one purchase may belong to several users, in turn or at once, without notice.
  public var sharesPurchases = false
  /// Whether its snapshots list the newest purchase of each product, also of past products.
  public var listsPastProducts = false
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

extension Provider {
  /// What the provider sends.
  public var capabilities: ProviderCapabilities {
    switch self {
    case .qonversion: .qonversion
    case .flobuk: .flobuk
    case .iaptic: .iaptic
    case .purple: .purple
    }
  }
}

// One row for each provider.

extension ProviderCapabilities {
  /// Qonversion's capabilities.
  ///
  /// Sources: the webhook page, its list of events, `revenue`, `expires`, `grace_period_expires`,
  /// `subscription_renew_count` and `environment`; bodies of 2020 lack money and ends.
  static let qonversion = ProviderCapabilities(
    body: .event, hasStableOriginalID: true, sendsMoney: true, sendsWholeCharges: true,
    sendsGraceEnds: true, sendsRenewalOrdinals: true, sendsExpirations: true,
    namesDashboardProducts: true)

  /// FLOBUK's capabilities.
  ///
  /// Sources: the webhook page, `data`, which has no money and no mark of refunds and trials;
  /// `transaction` is another with each renewal, and messages of a store's own doing have no user.
  /// The codes of `status` are not published. In alias mode up to six users share a purchase, in
  /// transfer mode it moves. Get User lists past products.
  static let flobuk = ProviderCapabilities(
    body: .purchase, linksRenewalsOutsidePlay: false, sendsSubscriptionRefunds: false,
    sendsOneTimeRefunds: false, sendsAutoRenewOn: true, marksTrials: false, sharesPurchases: true,
    listsPastProducts: true)

  /// iaptic's capabilities.
  ///
  /// Sources: the webhook page; amounts and `expirationDate` may be missing or null. Each entitled
  /// user gets a collection, `purchaseId` is another with each purchase, and what a collection no
  /// longer holds was never announced.
  static let iaptic = ProviderCapabilities(
    body: .collection, sendsMoney: true, sendsEndReasons: true, sendsAutoRenewOn: true,
    sendsPauses: true, listsPastProducts: true)

  /// Purple's capabilities.
  ///
  /// Sources: Receipt Events: no money, no ends, no sandbox; SUBSCRIPTION_CANCELLED_INVOLUNTARY;
  /// PRODUCT_CANCELLED is for one-time purchases only; early versions have no original ids; a
  /// purchase whose receipt is uploaded more than 10 minutes later is not announced.
  static let purple = ProviderCapabilities(
    body: .event, sendsPeriodEnds: false, sendsInvoluntaryEnds: true,
    sendsSubscriptionRefunds: false, announcesLateUploads: false, marksSandbox: false)
}
