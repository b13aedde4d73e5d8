public import Timeline
public import Vocabulary

/// What the ledger holds of one stream of deliveries.
public struct FeedHistory: Sendable, Equatable {
  /// Who tells.
  public var provider: Provider
  /// App id as text.
  public var app: String
  /// Time of the first event ever ingested; what came before it is not missed.
  public var firstEventAt: Instant
  /// Newest input: received, else created, else event time.
  public var watermark: Instant

  /// The history of what `provider` tells of `app`.
  public init(provider: Provider, app: String, firstEventAt: Instant, watermark: Instant) {
    self.provider = provider
    self.app = app
    self.firstEventAt = firstEventAt
    self.watermark = watermark
  }
}

/// From which amount on a break matters how much; the defaults suit an app, not a bank.
public struct SeverityScale: Sendable, Equatable {
  /// Below it low, but zero is only info.
  public var medium = Amount(micros: 1_000_000)
  /// From it on high, in US dollars.
  public var high = Amount(micros: 50_000_000)
  /// From it on critical, in US dollars.
  public var critical = Amount(micros: 500_000_000)

  /// Below 1 USD low, below 50 medium, below 500 high, else critical.
  public init() {}

  /// How much `amount` matters, whatever its sign; an unknown amount matters like a medium one.
  public func severity(of amount: Amount?) -> Severity {
    guard let amount = amount?.magnitude else { return .medium }
    if amount == .zero { return .info }
    if amount < medium { return .low }
    if amount < high { return .medium }
    return amount < critical ? .high : .critical
  }
}

/// Everything that decides what is a break, besides the user's own facts.
public struct ReconcileRules: Sendable {
  /// As-of, the renewal gap and the delivery windows.
  public var rules: Rules
  /// Store product ids by the product id that snapshots use.
  public var products: [String: [String]]
  /// Every stream of deliveries that the ledger knows.
  public var feeds: [FeedHistory]
  /// When the newest snapshot of each provider was taken, at or before as-of.
  public var snapshotsTakenAt: [Provider: Instant] = [:]
  /// Whether a user who is absent from the snapshots is a break rather than a number.
  public var snapshotsComplete: Bool
  /// How long the provider keeps the record of a delivery.
  ///
  /// Source: Qonversion's webhook page, "the tracking record lives 7 days".
  public var evidenceKept: [Provider: Interval] = [.qonversion: .days(7)]
  /// Ends that differ by no more than this agree.
  public var endTolerance = Interval.seconds(60)
  /// What everybody paid, for the estimates of what is missing.
  public var prices = PaidPrices()
  /// From which amount on a break matters how much.
  public var severities = SeverityScale()

  /// The contract's rules at the as-of of `rules`.
  public init(
    rules: Rules, products: [String: [String]] = [:], feeds: [FeedHistory] = [],
    snapshotsComplete: Bool = false
  ) {
    self.rules = rules
    self.products = products
    self.feeds = feeds
    self.snapshotsComplete = snapshotsComplete
  }

  func feed(_ provider: Provider, _ app: String) -> FeedHistory? {
    feeds.first { $0.provider == provider && $0.app == app }
  }

  /// When the first event of the app came; of an app that cannot be told, the last first one, so
  /// that nothing is called missed that might lie before it.
  func firstEventAt(_ provider: Provider, _ app: String) -> Instant? {
    if !app.isEmpty { return feed(provider, app)?.firstEventAt }
    return feeds.filter { $0.provider == provider }.map(\.firstEventAt).max()
  }
}
