import Domain

/// Everything that is known about a world, gathered life by life and written at its end.
struct TruthFolder {
  private let span: Span
  private let folder: String
  private let horizons: [Shop: Horizon]
  private var events: TruthEvents
  private var revenue = RevenueRecount()
  private var churn = ChurnRecount()
  private var recurring = RecurringRevenueRecount()
  private var renewals = RenewalRecount()

  /// Starts a truth for shops whose newest receive times are `watermarks`, in milliseconds.
  init(
    _ folder: String, span: Span, watermarks: [NamedFeed: Int64]
  ) throws(SimulateError) {
    self.folder = folder
    self.span = span
    var horizons: [Shop: Horizon] = [:]
    for shop in Shop.all {
      horizons[shop] = Horizon(
        span: span, deliveryWindow: shop.provider.deliveryWindow,
        watermark: watermarks[shop.feed].map { $0 / 1000 })
    }
    self.horizons = horizons
    events = try TruthEvents(path: "\(folder)/events.jsonl.gz")
  }

  mutating func add(_ life: Life, _ deliveries: [Delivery]) throws(SimulateError) {
    try events.add(life, deliveries, span: span)
    let shop = life.person.shop
    guard life.person.environment == .production, let horizon = horizons[shop] else { return }
    revenue.add(life, span: span)
    for subscription in life.reported.subscriptions {
      let seen = subscription.seenPeriods(horizon)
      churn.add(seen, shop: shop, horizon: horizon)
      recurring.add(seen, shop: shop, horizon: horizon)
      renewals.add(subscription, shop: shop, horizon: horizon)
    }
  }

  mutating func finish() throws(SimulateError) {
    try events.finish()
    let tables = [
      revenue.table(horizons), churn.table(horizons), recurring.table(horizons),
      renewals.renewalTable(horizons), renewals.trialTable(horizons),
    ]
    for table in tables { try write(table.text, to: "\(folder)/\(table.name)") }
    try write(Instant(seconds: span.end).text + "\n", to: "\(folder)/as_of.txt")
  }
}
