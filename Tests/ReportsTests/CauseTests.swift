import EventStore
import Reports
import Testing
import Domain

@Suite("Causes of restatements")
struct CauseTests {
  let world: World

  init() throws {
    world = try World()
    try world.hear(until: day(2026, 3, 10))
    try world.hear(until: day(2026, 3, 10), provider: .flobuk)
  }

  private func causes() throws -> Set<String> {
    Set(try world.restatements().compactMap { $0["cause"] })
  }

  private func closeJanuary() throws {
    var act = AuditEntry(.close)
    let january = Month(number: 2026 * 12)
    (act.month, act.zone) = (january, "UTC")
    let plan = ReportPlan(rules: world.rules, run: 1)
    _ = try world.ledger.close(act, FrozenMonth(january, from: world.ledger, plan: plan).reports)
  }

  @Test("A row in which only refunds changed is restated by a refund")
  func refund() throws {
    try world.publish(selling: 3)
    try world.sell(3, refunds: 1)
    try world.publish()
    #expect(try causes() == ["refund"])
    #expect(try world.restated("column", "delta").contains("refunds 1"))
  }

  @Test("An expected change of a row that was open when its month was closed is not a late event")
  func incomplete() throws {
    try world.start(trials: 2, pending: 1)
    try world.publish()
    try closeJanuary()
    try world.start(trials: 2, pending: 0)
    try world.publish()
    #expect(try causes() == ["incomplete"])
    try world.start(trials: 3, pending: 0)
    try world.publish()
    #expect(try causes() == ["late_event"])
  }

  @Test(
    "Another program version or another counting rule is a definition change",
    arguments: [#"{"renewal_gap_s":3600}"#, #"{"delivery_window_s":{"qonversion":1}}"#])
  func definition(_ options: String) throws {
    try world.publish(selling: 3)
    try world.publish(selling: 4, options: options)
    #expect(try causes() == ["definition_change"])
    try world.publish(selling: 5, options: options)
    #expect(try causes() == ["late_event"])
    try world.publish(selling: 6, options: options, version: "2")
    #expect(try causes() == ["definition_change"])
  }

  @Test("Another price book is a rate correction, except for a provider that sends its money")
  func prices() throws {
    try world.sell(3)
    try world.sell(3, basis: .priceBook, provider: .flobuk)
    try world.publish(options: #"{"prices_sha256":"a"}"#)
    try world.sell(4)
    try world.sell(4, basis: .priceBook, provider: .flobuk)
    try world.publish(options: #"{"prices_sha256":"b"}"#)
    for row in try world.restatements() {
      let isListed = row["key"]?.hasPrefix("flobuk,") == true
      #expect(row["cause"] == (isListed ? "rate_correction" : "late_event"))
    }
  }

  @Test("A decision is the cause only in the month and product of its break")
  func decisions() throws {
    _ = try world.productKey("pro")
    func found(_ id: String, _ month: Int) -> Break {
      var item = Break(id: id, code: .missedRenewal, provider: .qonversion)
      (item.app, item.store, item.product) = ("app", .appStore, "pro")
      (item.expectedAt, item.missingEvents) = (day(2026, month, 5), 1)
      return item
    }
    func decide(_ ids: String...) throws {
      try world.ledger.replaceDecisions(
        ids.map { Decision(breakID: $0, verdict: .explained, reason: "known", who: "me") })
    }
    let breaks = [found("january", 1), found("other", 1), found("february", 2)]
    try world.publish(breaks: breaks)
    try closeJanuary()
    try decide("february")
    try world.publish(options: #"{"decisions":"1"}"#, breaks: Array(breaks.dropFirst()))
    #expect(try world.restated("column", "cause").contains("open_breaks late_event"))
    try decide("february", "other")
    try world.publish(options: #"{"decisions":"2"}"#, breaks: Array(breaks.dropFirst()))
    #expect(try world.restated("column", "cause").contains("open_breaks decision"))
  }

  @Test("Options without an effect on the numbers are not a cause")
  func irrelevant() throws {
    try world.publish(
      selling: 3, options: #"{"as_of":"x","csv_dialect":"excel","materiality":"0.1"}"#)
    try world.publish(
      selling: 4, options: #"{"as_of":"y","csv_dialect":"rfc4180","materiality":"0.2"}"#)
    #expect(try causes() == ["late_event"])
  }

  /// Publishes five subscribers of January, and then these movements of one each.
  private func restate(_ movements: Movement...) throws {
    let productKey = try world.productKey("pro")
    let january = Day(year: 2026, month: 1, day: 9)
    world.move(.new, 5, productKey, on: january)
    try world.publish()
    for movement in movements { world.move(movement, 1, productKey, on: january) }
    try world.publish()
  }

  @Test("Churn that a refund revoked is restated by a refund")
  func churn() throws {
    try restate(.churned, .churnedRefund)
    let rows = try world.restatements().filter {
      $0["report"] == "churn_monthly" && $0["period"] == "2026-01"
    }
    #expect(rows.contains { $0["column"] == "churned_refund" && $0["delta"] == "1" })
    #expect(Set(rows.map { $0["cause"] }) == ["refund"])
  }

  @Test("A row that a start changed, too, is not restated by its refund")
  func start() throws {
    try restate(.new, .churned, .churnedRefund)
    #expect(try causes() == ["late_event"])
  }
}
