public import Subscriptions
public import Domain

/// The ledger's state of one stream of deliveries.
public struct FeedHistory: Sendable, Equatable {
  /// The provider.
  public var provider: Provider
  /// App id as text.
  public var app: String
  /// When it began; events before are not missed.
  public var firstEventAt: Instant
  /// Newest input, not after as-of: received, else created, else event time.
  public var watermark: Instant
  /// What its messages need from the event to their making, besides the delivery window.
  public var creationLag = Interval.seconds(0)

  /// The history of the feed of `provider` and `app`.
  public init(provider: Provider, app: String, firstEventAt: Instant, watermark: Instant) {
    self.provider = provider
    self.app = app
    self.firstEventAt = firstEventAt
    self.watermark = watermark
  }
}

/// A product that some app sells in a store.
public struct SoldProduct: Sendable, Hashable {
  /// The provider.
  public var provider: Provider
  /// App id as text.
  public var app: String
  /// The shop.
  public var store: Store
  /// Store product id.
  public var product: String

  /// What `app` sells as `product` in `store`.
  public init(provider: Provider, app: String, store: Store, product: String) {
    self.provider = provider
    self.app = app
    self.store = store
    self.product = product
  }
}

/// From which amount on a break matters how much; the defaults suit an app, not a bank.
public struct SeverityScale: Sendable, Equatable {
  /// From which amount on, in US dollars, a break matters at least so much; below all of them low,
  /// but zero is only info.
  public var steps: [Severity: Amount] = [
    .medium: Amount(micros: 1_000_000), .high: Amount(micros: 50_000_000),
    .critical: Amount(micros: 500_000_000),
  ]

  /// Below 1 USD low, below 50 medium, below 500 high, else critical.
  public init() {}

  /// How much `amount` matters, whatever its sign; an unknown amount matters like a medium one.
  public func severity(of amount: Amount?) -> Severity {
    guard let amount = amount?.magnitude else { return .medium }
    if amount == .zero { return .info }
    return Severity.allCases.last { step in steps[step].map { $0 <= amount } ?? false } ?? .low
  }
}

/// Everything that decides what is a break, besides the user's own facts.
public struct ReconciliationSettings: Sendable {
  /// Settings of the fold: as-of, the renewal gap and the delivery windows.
  public var fold: FoldSettings
  /// Store product ids by the product id that snapshots use.
  public var products: [String: [String]]
  /// Configured and listed lengths of periods by store product id, also of products that were
  /// never bought.
  public var lengths: [String: PeriodLength] = [:]
  /// Every stream of deliveries in the ledger.
  public var feeds: [FeedHistory]
  /// When the newest snapshot of each provider was taken, at or before as-of.
  public var snapshotsTakenAt: [Provider: Instant] = [:]
  /// Whether a user who is absent from the snapshots is a break rather than a number.
  public var snapshotsComplete: Bool
  /// Whether the entitlements in webhooks are snapshots.
  public var snapshotsFromWebhooks = true
  /// Ends that differ by no more than this agree.
  public let endTolerance = Interval.seconds(60)
  /// What apps are known to sell, to find the app of a purchase whose events were all lost.
  public var sold: Set<SoldProduct> = []
  /// The base plans of products that subscriptions and trials of anybody show.
  public var basePlans = BasePlans()
  /// The product ids behind the symbols of `prices` and of the price book.
  public var strings = StringTable()
  /// The prices of all users, for the estimates of missing charges.
  public var prices = PaidPrices()
  /// What all users paid for their currencies, for the same estimates.
  public var rates = ExchangeRates()
  /// Whether collections came that held nothing and that nothing dates; whose they are is not kept.
  public var hasUndatedCollections = false
  /// From which amount on a break matters how much.
  public var severities = SeverityScale()

  /// The contract's rules at the as-of of `fold`.
  public init(
    fold: FoldSettings, products: [String: [String]] = [:], feeds: [FeedHistory] = [],
    snapshotsComplete: Bool = false
  ) {
    self.fold = fold
    self.products = products
    self.feeds = feeds
    self.snapshotsComplete = snapshotsComplete
  }

  /// When the first feed began; nil without feeds.
  public var firstEventAt: Instant? { feeds.map(\.firstEventAt).min() }

  /// The configured or listed length of a product, or of the product that it is a base plan of.
  func length(of product: String) -> PeriodLength? {
    lengths[product] ?? product.withoutBasePlan.flatMap { lengths[$0] }
  }

  func feed(_ provider: Provider, _ app: String) -> FeedHistory? {
    feeds.first { $0.provider == provider && $0.app == app }
  }

  /// When the feed of the app began; of an unknown app, the last that began of all apps that sell
  /// such a product, so that no earlier event counts as missed.
  func firstEventAt(_ about: BreakSubject) -> Instant? {
    if !about.app.isEmpty { return feed(about.provider, about.app)?.firstEventAt }
    let products = about.product.isEmpty ? [] : [about.product]
    return apps(of: about.provider, selling: products, in: about.store)
      .compactMap { feed(about.provider, $0)?.firstEventAt }.max()
  }

  /// The apps that can have sold one of `products` in `store`: the apps known to sell it there,
  /// else the ones that sell anything there, else all.
  func apps(of provider: Provider, selling products: [String], in store: Store) -> Set<String> {
    let shops = sold.filter { $0.provider == provider && $0.store.mayBe(store) }
    let names = products.flatMap(basePlans.names)
    let sellers = shops.filter { names.contains($0.product) }
    let apps = Set((sellers.isEmpty ? shops : sellers).map(\.app))
    return apps.isEmpty ? Set(feeds.filter { $0.provider == provider }.map(\.app)) : apps
  }
}

extension Store {
  /// Whether both can name one shop.
  func mayBe(_ other: Store) -> Bool {
    self == other || self == .unknown || other == .unknown
      || Set([self, other]) == [.appStore, .macAppStore]
  }
}
