public import Subscriptions
public import Domain

/// A product that an app sells in a store.
public struct SoldProduct: Sendable, Hashable {
  /// The provider.
  public var provider: Provider
  /// App id as text.
  public var app: String
  /// The store.
  public var store: Store
  /// Store product id.
  public var product: String

  /// The product that `app` sells as `product` in `store`.
  public init(provider: Provider, app: String, store: Store, product: String) {
    self.provider = provider
    self.app = app
    self.store = store
    self.product = product
  }
}

/// The amounts and ages from which a break has each severity; the defaults suit an app, not a bank.
public struct SeverityThresholds: Sendable, Equatable {
  /// The lowest amount in US dollars of each severity; less is low, and zero is info.
  public var amounts: [Severity: Amount] = [
    .medium: Amount(micros: 1_000_000), .high: Amount(micros: 50_000_000),
    .critical: Amount(micros: 500_000_000),
  ]
  /// Number of days that an event must be missing for its break to have at least the severity.
  ///
  /// Age alone makes a break critical only if configured: otherwise a first run over old archives
  /// would have too many critical breaks.
  public var days: [Severity: Int] = [.medium: 8, .high: 31]

  /// Medium from 1 USD or 8 days, high from 50 USD or 31 days, critical from 500 USD.
  public init() {}

  /// The severity for `amount`, whatever its sign; medium for an unknown amount.
  public func severity(of amount: Amount?) -> Severity {
    guard let amount = amount?.magnitude else { return .medium }
    if amount == .zero { return .info }
    return Severity.allCases.last { severity in
      amounts[severity].map { $0 <= amount } ?? false
    } ?? .low
  }

  /// Returns `found` with the severity that follows from its age at `asOf`.
  ///
  /// Only an open break with missing events of value becomes more severe with age: a difference
  /// between two reported values, or a free trial, does not get worse.
  public func aged(_ found: Break, asOf: Instant) -> Break {
    guard found.status == .open, found.missingEvents > 0, found.severity != .info,
      found.estimatedUSD != .zero,
      let expectedAt = found.expectedAt
    else { return found }
    let age = asOf.since(expectedAt).milliseconds / Interval.days(1).milliseconds
    let byAge = Severity.allCases.last { severity in days[severity].map { age >= $0 } ?? false }
    guard let byAge, byAge > found.severity else { return found }
    var aged = found
    aged.severity = byAge
    return aged
  }
}

/// Everything besides the user's own facts that decides what is a break.
public struct ReconciliationSettings: Sendable {
  /// Settings of the fold: as-of, the renewal gap and the delivery windows.
  public var fold: FoldSettings
  /// Store product ids by the product id that snapshots use.
  public var products: [String: [String]] = [:]
  /// Configured and listed period lengths by store product id, also of products never bought.
  public var lengths: [String: PeriodLength] = [:]
  /// Every feed in the ledger.
  public var feeds: [Watermark] = []
  /// When the newest snapshot of each provider and app at or before as-of was taken; the app is
  /// empty for snapshots without one.
  public var snapshotsTakenAt: [Provider: [String: Instant]] = [:]
  /// Whether a user without a snapshot is a break and not only counted.
  public var snapshotsComplete = false
  /// Whether the entitlements in webhooks are used as snapshots.
  public var snapshotsFromWebhooks = true
  /// The largest difference at which two ends still agree.
  let endTolerance = Interval.seconds(60)
  /// Products known to be sold, which identify the app of a purchase whose events were all lost.
  public var sold: Set<SoldProduct> = []
  /// The base plans that occur in any user's subscriptions and trials.
  public var basePlans = BasePlans()
  /// The product ids of the symbols in `prices` and the price book.
  public var strings = StringTable()
  /// The prices of all users, for estimates of missing charges.
  public var prices = PaidPrices()
  /// The exchange rates of all users' charges, for the same estimates.
  public var rates = ExchangeRates()
  /// Whether empty collections without a date arrived; their users are not stored.
  public var hasUndatedCollections = false
  /// What decides the severity of breaks.
  public var severities = SeverityThresholds()

  /// The contract's rules at the as-of of `fold`; all other fields are set by name.
  public init(fold: FoldSettings) { self.fold = fold }

  /// When the first feed began; nil without feeds.
  public var firstEventAt: Instant? { feeds.map(\.begin).min() }

  /// The configured or listed length of a product, or of the product that it is a base plan of.
  func length(of product: String) -> PeriodLength? {
    lengths[product] ?? product.withoutBasePlan.flatMap { lengths[$0] }
  }

  func feed(_ provider: Provider, _ app: String) -> Watermark? {
    feeds.first { $0.feed.provider == provider && $0.app == app }
  }

  /// The feed of the app; for an unknown app, those of all apps that sell such a product.
  func feeds(of about: BreakSubject) -> [Watermark] {
    let products = about.product.isEmpty ? [] : [about.product]
    let apps =
      about.app.isEmpty
      ? apps(of: about.provider, selling: products, in: about.store) : [about.app]
    return apps.compactMap { feed(about.provider, $0) }
  }

  /// When the feed of the app began; for an unknown app the latest begin, so that no earlier event
  /// counts as missed.
  func firstEventAt(_ about: BreakSubject) -> Instant? { feeds(of: about).map(\.begin).max() }

  /// The apps that can have sold one of `products` in `store`: the apps known to sell it there,
  /// else those that sell anything there, else all.
  func apps(of provider: Provider, selling products: [String], in store: Store) -> Set<String> {
    let known = sold.filter { $0.provider == provider && $0.store.mayBe(store) }
    let names = products.flatMap(basePlans.names)
    let sellers = known.filter { names.contains($0.product) }
    let apps = Set((sellers.isEmpty ? known : sellers).map(\.app))
    guard apps.isEmpty else { return apps }
    let all = Set(feeds.filter { $0.feed.provider == provider }.map(\.app))
    // Bodies without an app belong to the only named one.
    return fold.onlyApps[provider] == nil ? all : all.subtracting([""])
  }
}
