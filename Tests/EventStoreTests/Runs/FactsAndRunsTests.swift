import EventStore
import Testing
import Domain

@Suite("Facts and runs")
struct FactsAndRunsTests {
  let ledger: Ledger
  let productKey = ProductKey(provider: .purple, app: 1, store: .stripe, product: 2)
  let day = Day(number: 20_000)

  init() throws { ledger = try Ledger.fresh() }

  private var facts: Facts {
    var facts = Facts()
    var sums = RevenueSums()
    sums.charges = 1
    sums.refunds = 2
    sums.grossUSD.sum = Amount(micros: 3)
    sums.grossUSD.unknown = 4
    sums.refundsUSD.sum = Amount(micros: 5)
    sums.proceedsUSD.sum = Amount(micros: -7)
    sums.grossLocal.sum = Amount(micros: 9)
    sums.refundsLocal.sum = Amount(micros: 11)
    sums.proceedsLocal.unknown = 14
    facts.revenue[
      RevenueKey(
        day: day, productKey: productKey, productType: .oneTime, chargeKind: .renewal, country: 3,
        storefront: 4, currency: 5, rate: nil, basis: .priceBook)] = sums
    var moved = MovementSums()
    moved.subscriptions = -1
    moved.mrr = Amount(micros: 8)
    facts.movements[MovementKey(month: day.month, productKey: productKey, movement: .fx)] = moved
    var renewed = RenewalSums()
    renewed.renewals = 6
    facts.renewals[RenewalKey(month: day.month, productKey: productKey, ordinal: nil)] = renewed
    facts.renewals[RenewalKey(month: day.month, productKey: productKey, ordinal: 3)] = renewed
    var trial = TrialSums()
    trial.started = 5
    trial.converted = 4
    trial.canceled = 3
    trial.expired = 1
    facts.trials[ProductDay(day: day, productKey: productKey)] = trial
    var kept = RetentionSums()
    kept.activeChange = -2
    kept.netUSD.sum = Amount(micros: 10)
    facts.retention[RetentionKey(cohort: day.month, productKey: productKey, index: 1)] = kept
    var left = ExclusionSums()
    left.events = 2
    let feed = Feed(provider: .purple, app: 1)
    facts.excluded[ExclusionKey(day: day, feed: feed, reason: .familySharing)] = left
    var arrived = ArrivalSums()
    arrived.outOfOrder = 1
    arrived.late = 2
    facts.arrivals[ArrivalKey(day: day, provider: .purple, kind: .refunded)] = arrived
    facts.gaps[CoverageKey(day: day, feed: feed, gap: .openEndedPeriod)] = 3
    return facts
  }

  @Test("Facts are stored in the columns that reports read")
  func columns() throws {
    try ledger.fold(facts)
    let month = day.month.number
    let expected: [(table: String, rows: [String])] = [
      (
        "revenue_cell",
        ["20000|4|1|4|2|1|2|3|4|5|-1|2|1|2|3|4|5|0|-7|0|9|0|11|0|0|14"]
      ),
      (
        "revenue_month_cell",
        ["\(month)|4|1|4|2|1|2|3|4|5|-1|2|1|2|3|4|5|0|-7|0|9|0|11|0|0|14"]
      ),
      ("movement_cell", ["\(month)|4|1|4|2|20|-1|8"]),
      ("renewal_cell", ["\(month)|4|1|4|2|-1|6|0", "\(month)|4|1|4|2|3|6|0"]),
      ("trial_cell", ["20000|4|1|4|2|5|4|3|1|0"]),
      ("retention_cell", ["\(month)|4|1|4|2|1|0|-2|10|0"]),
      ("excluded_cell", ["20000|4|1|2|2|0"]), ("arrival_cell", ["20000|4|14|1|2"]),
      ("coverage_cell", ["20000|4|1|2|0|3"]),
    ]
    for (table, rows) in expected {
      #expect(try ledger.table("select * from \(table)") == rows, "\(table)")
    }
    #expect(
      try ledger.table(
        "select proceeds_usd, proceeds_local_unknown, refunds_local, rate from revenue_cell")
        == ["-7|14|11|-1"])
  }

  @Test("New facts replace the old ones")
  func replaced() throws {
    try ledger.fold(facts)
    try ledger.fold(facts)
    #expect(try ledger.table("select count(*) from revenue_cell") == ["1"])
    try ledger.fold(Facts())
    #expect(try ledger.table("select count(*) from renewal_cell") == ["0"])
  }

  @Test("Runs are numbered, and store what they read and published")
  func runs() throws {
    let first = try ledger.beginRun(asOf: Instant(seconds: 1), version: "1.0", options: "{}")
    try ledger.finishRun(first, archives: 0, counts: ArchiveCounts(), published: "aa")
    let second = try ledger.beginRun(asOf: Instant(seconds: 2), version: "1.1", options: "{}")
    var counts = ArchiveCounts()
    counts.lines = 10
    counts.accepted = 4
    counts.duplicates = 3
    counts.skipped = 2
    counts.rejected = 1
    var both = counts
    both.add(ArchiveCounts())
    #expect(both == counts)
    try ledger.finishRun(second, archives: 5, counts: counts, published: "ab")
    let runs = try ledger.runs(newest: 9)
    #expect(runs.map(\.id) == [second, first])
    #expect(runs[0].counts == counts)
    #expect(runs[0].archives == 5)
    #expect(runs[0].published == "ab")
    #expect(runs[1].published == "aa")
    #expect(try ledger.runs(newest: 1).count == 1)
  }

  @Test("A run interrupted before it published continues under its number")
  func interrupted() throws {
    let first = try ledger.beginRun(asOf: Instant(seconds: 1), version: "1.0", options: "{}")
    let again = try ledger.beginRun(asOf: Instant(seconds: 2), version: "1.1", options: "{}")
    #expect(again == first)
    #expect(try ledger.runs(newest: 9).map(\.version) == ["1.1"])
    try ledger.finishRun(again, archives: 0, counts: ArchiveCounts(), published: "aa")
    let next = try ledger.beginRun(asOf: Instant(seconds: 2), version: "1.1", options: "{}")
    #expect(next == first + 1)
  }
}
