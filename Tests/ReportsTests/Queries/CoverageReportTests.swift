import Reports
import Testing
import Domain

@Suite("Coverage lists how reliable each feed's numbers are")
struct CoverageReportTests {
  let world: World
  let january = Day(year: 2026, month: 1, day: 5)

  init() throws { world = try World() }

  /// Coverage, events and reason of `metric` for a provider's only app.
  private func statement(_ metric: String, _ provider: Provider) throws -> [String?] {
    let rows = try world.rows("coverage.csv").filter {
      $0["provider"] == provider.name && $0["metric"] == metric
    }
    try #require(rows.count == 1, "\(metric) of \(provider)")
    return ["coverage", "events", "why"].map { rows[0][$0] }
  }

  private func charge(
    _ provider: Provider, _ basis: AmountBasis, _ count: Int64, proceeds: Bool = true,
    type: ProductType = .subscription
  ) throws {
    let key = RevenueKey(
      day: january, productKey: try world.productKey("p", provider: provider), productType: type,
      chargeKind: type == .oneTime ? .oneTime : .first, country: 0, storefront: 0, currency: 0,
      rate: nil, basis: basis)
    var sums = RevenueSums()
    sums.charges = count
    if basis == .none { sums.grossUSD.unknown = count }
    if basis == .none || !proceeds { sums.proceedsUSD.unknown = count }
    world.facts.revenue[key] = sums
  }

  private func leave(_ gap: CoverageGap, _ count: Int64, _ provider: Provider) throws {
    let key = CoverageKey(
      day: january, feed: Feed(provider: provider, app: try world.symbol("app")), gap: gap)
    world.facts.gaps[key] = count
  }

  @Test("Every feed has every metric, sorted, even a feed with only sandbox traffic")
  func everyMetric() throws {
    let feeds = [(Provider.qonversion, "b"), (.flobuk, "")]
    for (provider, app) in feeds {
      let feed = Feed(provider: provider, app: try world.symbol(app))
      world.rules.watermarks[feed] = Watermark(
        of: feed, newest: day(2026, 3, 9), begin: day(2026, 3, 1))
    }
    try world.write()
    let rows = try world.rows("coverage.csv")
    let metrics = rows.prefix(rows.count / 2).map { $0["metric"] ?? "" }
    #expect(metrics.count > 15 && metrics == metrics.sorted())
    #expect(rows.suffix(rows.count / 2).map { $0["metric"] } == metrics)
    #expect(
      rows.map { $0["provider"] }
        == metrics.map { _ in "flobuk" } + metrics.map { _ in "qonversion" })
    #expect(rows.allSatisfy { $0["why"]?.isEmpty == false })
  }

  @Test("A metric that a provider never reports is not available, with an unknown number")
  func neverReported() throws {
    for provider in Provider.allCases { try charge(provider, .provider, 1) }
    try world.write()
    #expect(try statement("refunds", .purple).dropLast() == ["not_available", ""])
    #expect(try statement("missing_events", .purple).first == "estimated")
    #expect(try statement("refunds_one_time", .purple).first == "measured")
    #expect(try statement("refunds_one_time", .flobuk).dropLast() == ["not_available", ""])
    #expect(try statement("trials", .flobuk).first == "not_available")
    #expect(try statement("sandbox", .purple).first == "not_available")
    #expect(try statement("pauses", .iaptic).dropLast() == ["measured", "0"])
    #expect(try statement("refunds", .qonversion).dropLast() == ["measured", "0"])
  }

  @Test("A provider whose deliveries never give a reason reports no refunds")
  func statesOnly() throws {
    try charge(.iaptic, .priceBook, 1)
    func came(_ kind: UInt8) throws {
      let values = "1, \(january.number), 3, \(kind), 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, null"
      try world.sql("insert into delivery_cell values (\(values))")
    }
    try came(EventKind.observed.rawValue)
    try world.write()
    #expect(try statement("refunds", .iaptic).dropLast() == ["not_available", ""])
    #expect(try statement("renewals", .iaptic).dropLast() == ["estimated", ""])
    try came(EventKind.renewed.rawValue)
    try world.write()
    #expect(try statement("refunds", .iaptic).first == "measured")
  }

  @Test("Amounts of the price book are estimated, and charges without amounts are missing")
  func amounts() throws {
    try charge(.iaptic, .provider, 5, proceeds: false)
    try world.write()
    #expect(try statement("revenue_usd", .iaptic).dropLast() == ["measured", "0"])
    #expect(try statement("proceeds", .iaptic).dropLast() == ["not_available", "5"])
    try charge(.iaptic, .priceBook, 2)
    try charge(.iaptic, .none, 1)
    try charge(.purple, .none, 4)
    try world.write()
    #expect(
      try statement("revenue_usd", .iaptic) == [
        "estimated", "3",
        "amount of the price book: 2 of 8 charges; no amount in US dollars: 1 of 8 charges",
      ])
    #expect(try statement("mrr", .iaptic).dropLast() == ["estimated", "3"])
    #expect(try statement("revenue_usd", .purple).dropLast() == ["not_available", "4"])
    #expect(try statement("mrr", .purple).first == "not_available")
    #expect(try statement("country", .purple).dropLast() == ["not_available", "4"])
  }

  @Test("Recurring revenue depends only on charges of subscriptions")
  func oneTime() throws {
    try charge(.iaptic, .provider, 2)
    try charge(.iaptic, .priceBook, 100, type: .oneTime)
    try world.write()
    #expect(try statement("mrr", .iaptic).dropLast() == ["measured", "0"])
    #expect(try statement("revenue_usd", .iaptic).dropLast() == ["estimated", "100"])
  }

  @Test("Charges without a transaction are counted if another provider could report them")
  func withoutTransaction() throws {
    try charge(.iaptic, .provider, 5)
    try leave(.chargeWithoutTransaction, 2, .iaptic)
    try world.write()
    #expect(try statement("revenue_usd", .iaptic).dropLast() == ["measured", "0"])
    try charge(.purple, .provider, 1)
    try world.write()
    #expect(
      try statement("revenue_usd", .iaptic) == [
        "estimated", "2",
        "no transaction, so that another provider's charge may count beside it: 2 of 5 charges",
      ])
    #expect(try statement("revenue_usd", .purple).first == "measured")
  }

  @Test("Unchained charges are counted in every metric that omits them")
  func unchained() throws {
    try charge(.flobuk, .priceBook, 10)
    try leave(.unchainedCharge, 3, .flobuk)
    try leave(.openEndedPeriod, 1, .flobuk)
    try world.write()
    for metric in ["churn", "retention"] {
      #expect(try statement(metric, .flobuk).dropLast() == ["estimated", "4"])
    }
    #expect(try statement("renewals", .flobuk).dropLast() == ["estimated", "3"])
    #expect(try statement("mrr", .flobuk).dropLast() == ["estimated", "10"])
    try leave(.unchainedCharge, 10, .flobuk)
    try world.write()
    #expect(try statement("churn", .flobuk).dropLast() == ["not_available", "10"])
    #expect(try statement("mrr", .flobuk).first == "not_available")
  }

  @Test("Renewals without a number and ends without a reason are counted")
  func unknownParts() throws {
    let productKey = try world.productKey("p")
    var sums = RenewalSums()
    sums.renewals = 2
    for ordinal in [nil, 1] as [Int64?] {
      world.facts.renewals[
        RenewalKey(month: january.month, productKey: productKey, ordinal: ordinal)] =
        sums
    }
    world.move(.new, 1, productKey, on: january)
    world.move(.churned, 1, productKey, on: january)
    world.move(.churnedUnknown, 1, productKey, on: january)
    try world.write()
    #expect(try statement("renewal_ordinal", .qonversion).dropLast() == ["estimated", "2"])
    #expect(try statement("churn_reason", .qonversion).dropLast() == ["measured", "1"])
    #expect(try statement("missing_events", .qonversion).dropLast() == ["estimated", ""])
  }

  @Test("Refunds that a provider never reports are empty, and their net is still a number")
  func emptyRefunds() throws {
    try charge(.purple, .priceBook, 2)
    try charge(.purple, .priceBook, 1, type: .oneTime)
    try world.write()
    let rows = try world.rows("revenue_monthly.csv")
    #expect(rows.map { $0["product_type"] } == ["one_time", "subscription"])
    expect(rows[0], "refunds=0", "refunds_usd=0.00")
    expect(
      rows[1], "refunds=", "refunds_usd=", "refunds_local=", "net_usd=0.00", "proceeds_usd=0.00")
    #expect(try world.rows("revenue_daily/2026-01.csv").map { $0["refunds"] } == ["0", ""])
  }
}
