import EventStore
import Providers
import Reconciliation
import Subscriptions
import Domain

extension RunPipeline {
  /// Refuses an as-of so long after all input that it must be a mistake: reports have rows for
  /// every month up to it.
  func requireNear(_ rules: FoldSettings) throws {
    let years: Int64 = 100
    guard let newest = rules.watermarks.values.map(\.newest).max(),
      rules.asOf - .seconds(years * 366 * 86_400) > newest
    else { return }
    throw SubledgerError(
      .usage,
      "as-of \(rules.asOf.text) is more than \(years) years after the newest input, which is of "
        + newest.text,
      hint: "check the year given with --as-of; files that were read stay in the ledger")
  }

  /// Returns the rules of the plan with the contents of the ledger: symbols of products and prices,
  /// and watermarks.
  func reconcileRules(for ledger: Ledger) throws -> ReconciliationSettings {
    let feeds = try plan.feeds(of: ledger)
    var rules = plan.rules
    rules.read(feeds)
    rules.isRetrospective =
      try ledger.lastEventAt().map { $0 >= rules.asOf } ?? false
      && ledger.goesOn(after: rules.asOf)
    // A configured window is used unchanged.
    for (feed, lag) in try ledger.creationLags() where plan.deliveryWindows[feed.provider] == nil {
      rules.creationLags[feed] = FoldSettings.allowance(for: lag)
    }
    rules.basePlans = BasePlans(in: ledger.symbols)
    let listed = plan.prices?.periods(at: rules.asOf) ?? [:]
    for (product, period) in plan.periods {
      let plans = rules.basePlans.plans(of: product).filter {
        plan.periods[$0] == nil && listed[$0] == nil
      }
      for symbol in ([product] + plans).compactMap(ledger.symbol) {
        rules.periods[symbol] = period
      }
    }
    var words = ledger.symbols
    if let list = plan.prices { (rules.prices, words) = try list.book(in: ledger) }
    var settings = ReconciliationSettings(fold: rules)
    settings.products = plan.products
    settings.feeds = feeds
    // Users who are missing from one half of a file may be in the other half.
    settings.snapshotsComplete =
      try plan.snapshotsAreComplete && ledger.incompleteSnapshots(asOf: rules.asOf) == nil
    settings.strings = words
    settings.lengths = listed.merging(plan.periods) { $1 }
    settings.snapshotsFromWebhooks = plan.snapshotsFromWebhooks
    settings.severities = plan.severity
    settings.hasUndatedCollections = try ledger.hasSkipped(undatedCollection)
    settings.snapshotsTakenAt = try ledger.newestCaptures(asOf: rules.asOf)
    return settings
  }
}

extension Plan {
  /// Returns the watermarks of a ledger's feeds at as-of, with the settings of the configuration.
  func feeds(of ledger: Ledger) throws -> [Watermark] {
    let marks = try ledger.watermarks(asOf: rules.asOf)
    return marks.map { mark in
      var mark = mark
      let (provider, app) = (mark.feed.provider, mark.app)
      // Bodies without an app belong to the only named app, so they begin its feed, too.
      let feeds = marks.filter { $0.feed.provider == provider }
      if provider.capabilities.omitsApps, feeds.count(where: { $0.feed.app != 0 }) == 1 {
        mark.begin = feeds.map(\.begin).min() ?? mark.begin
      }
      mark.gapMax = configuration.freshnessMax[provider, app] ?? mark.gapMax
      mark.begin =
        configuration.historyBegins[provider, app]?.instant(in: rules.calendar) ?? mark.begin
      return mark
    }
  }
}

extension ReconciliationSettings {
  /// Returns the same rules with results of a fold, and of earlier ones that it continues.
  func knowing(_ fold: Folded, in ledger: Ledger) throws -> ReconciliationSettings {
    try knowing(fold.prices, fold.allRates, in: ledger) {
      let begun = fold.result.facts.begun
      return fold.isWhole ? begun : try ledger.begun().merging(begun, uniquingKeysWith: +)
    }
  }

  /// Returns the same rules with results of a fold: the prices of renewals, the rates of
  /// currencies, which products have base plans, and which app sells them, as far as subscriptions
  /// and trials show it.
  ///
  /// - Parameter begun: returns how many of each product began; used only if a provider with
  ///   snapshots has several apps or one of their products is several of stores, else products need
  ///   no check, or if a product has base plans.
  func knowing(
    _ prices: PaidPrices, _ rates: ExchangeRates, in ledger: Ledger,
    begun: () throws -> [ProductKey: Int64]
  ) throws -> ReconciliationSettings {
    var rules = self
    (rules.prices, rules.rates) = (prices, rates)
    let apps = Dictionary(grouping: feeds, by: \.feed.provider)
    let needsSellers =
      snapshotsTakenAt.keys.contains { apps[$0, default: []].count > 1 }
      || !snapshotsTakenAt.isEmpty && products.values.contains { $0.count > 1 }
    let words = ledger.symbols.words
    guard needsSellers || words.contains(where: { $0.withoutBasePlan != nil }) else { return rules }
    var known = StringTable()
    for (productKey, count) in try begun() where count > 0 && productKey.product != 0 {
      let product = words[Int(productKey.product)]
      _ = known.symbol(product)
      guard needsSellers else { continue }
      rules.sold.insert(
        SoldProduct(
          provider: productKey.provider, app: words[Int(productKey.app)], store: productKey.store,
          product: product))
    }
    rules.basePlans = BasePlans(in: known)
    return rules
  }
}
