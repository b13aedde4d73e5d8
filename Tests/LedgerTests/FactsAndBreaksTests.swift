import Ledger
import TestSupport
import Testing
import Vocabulary

@Suite("Facts, breaks and runs")
struct FactsAndBreaksTests {
  let folder: TemporaryFolder
  let ledger: Ledger
  let offering = Offering(provider: .purple, app: 1, store: .stripe, product: 2)
  let day = Day(number: 20_000)

  init() throws {
    folder = try TemporaryFolder()
    ledger = try Ledger.fresh(in: folder)
  }

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
        day: day, offering: offering, productType: .oneTime, chargeKind: .renewal, country: 3,
        storefront: 4, currency: 5, rate: nil, basis: .priceBook)] = sums
    var moved = MovementSums()
    moved.subscriptions = -1
    moved.mrr = Amount(micros: 8)
    facts.movements[MovementKey(day: day, offering: offering, movement: .fx)] = moved
    var renewed = RenewalSums()
    renewed.renewals = 6
    facts.renewals[RenewalKey(day: day, offering: offering, ordinal: nil)] = renewed
    facts.renewals[RenewalKey(day: day, offering: offering, ordinal: 3)] = renewed
    var trial = TrialSums()
    trial.started = 5
    trial.converted = 4
    trial.canceled = 3
    trial.expired = 1
    facts.trials[OfferingDay(day: day, offering: offering)] = trial
    var kept = RetentionSums()
    kept.activeChange = -2
    kept.netUSD.sum = Amount(micros: 10)
    facts.retention[RetentionKey(cohort: day.month, offering: offering, index: 1)] = kept
    var left = ExclusionSums()
    left.events = 2
    facts.excluded[
      ExclusionKey(day: day, provider: .purple, app: 1, reason: .familySharing)] = left
    var arrived = ArrivalSums()
    arrived.outOfOrder = 1
    arrived.late = 2
    facts.arrivals[ArrivalKey(day: day, provider: .purple, kind: .refunded)] = arrived
    facts.gaps[CoverageKey(day: day, provider: .purple, app: 1, gap: .chargeWithoutAmount)] = 3
    return facts
  }

  @Test("Facts stand in the columns that reports read")
  func columns() throws {
    try ledger.replaceFacts(facts)
    let month = day.month.number
    let expected: [(table: String, rows: [String])] = [
      (
        "revenue_cell",
        ["20000|4|1|4|2|1|2|3|4|5|-1|2|1|2|3|4|5|0|-7|0|9|0|11|0|0|14"]
      ),
      ("movement_cell", ["20000|4|1|4|2|20|-1|8"]),
      ("renewal_cell", ["20000|4|1|4|2|-1|6|0", "20000|4|1|4|2|3|6|0"]),
      ("trial_cell", ["20000|4|1|4|2|5|4|3|1|0"]),
      ("retention_cell", ["\(month)|4|1|4|2|1|0|-2|10|0"]),
      ("excluded_cell", ["20000|4|1|2|2|0"]), ("arrival_cell", ["20000|4|14|1|2"]),
      ("coverage_cell", ["20000|4|1|1|3"]),
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
    try ledger.replaceFacts(facts)
    try ledger.replaceFacts(facts)
    #expect(try ledger.table("select count(*) from revenue_cell") == ["1"])
    try ledger.replaceFacts(Facts())
    #expect(try ledger.table("select count(*) from renewal_cell") == ["0"])
  }

  @Test("A break keeps when it was first seen, is resolved when it is gone, and can come back")
  func breaks() throws {
    func states() throws -> [String] {
      try ledger.table(
        """
        select id, status, first_seen_ms, last_seen_ms, first_run, last_run, resolved_run
        from break order by id
        """)
    }
    func store(_ ids: [String], at seconds: Int64) throws -> BreakTally {
      let asOf = Instant(seconds: seconds)
      let run = try ledger.beginRun(asOf: asOf, version: "1", options: "{}")
      let breaks = ids.map { Break(id: $0, code: .missedRenewal, provider: .qonversion) }
      return try ledger.storeBreaks(breaks, asOf: asOf, run: run)
    }
    var tally = BreakTally()
    tally.new = 2
    #expect(try store(["b", "a"], at: 1) == tally)
    tally = BreakTally()
    tally.resolved = 1
    #expect(try store(["a"], at: 2) == tally)
    #expect(try states() == ["a|open|1000|2000|1|2|-", "b|resolved|1000|1000|1|1|2"])
    tally = BreakTally()
    #expect(try store(["a"], at: 3) == tally)
    #expect(try states()[1] == "b|resolved|1000|1000|1|1|2")
    tally.reopened = 1
    tally.resolved = 1
    #expect(try store(["b"], at: 4) == tally)
    #expect(try states() == ["a|resolved|1000|3000|1|3|4", "b|open|1000|4000|1|4|-"])
  }

  @Test("A break comes back with every field it was given")
  func breakFields() throws {
    var item = Break(id: "x", code: .missedRefund, provider: .iaptic)
    item.status = .pending
    item.severity = .critical
    item.app = "app"
    item.environment = .sandbox
    item.store = .amazon
    item.user = "u"
    item.subscription = "s"
    item.transaction = "t"
    item.product = "p"
    item.expectedAt = Instant(milliseconds: 1)
    item.settlesAt = Instant(milliseconds: 2)
    item.evidenceExpiresAt = Instant(milliseconds: 3)
    item.missingEvents = 4
    item.estimatedUSD = Amount(micros: -5)
    item.basis = .provider
    item.evidence = "e"
    item.action = "do"
    _ = try ledger.storeBreaks([item], asOf: Instant(milliseconds: 9), run: 6)
    #expect(
      try ledger.table("select * from break") == [
        "x|MISSED_REFUND|pending|critical|3|app|1|5|u|s|t|p|1|9|9|2|3|4|-5|1|e|do|6|6|-"
      ])
  }

  @Test("Runs are numbered, and remember what they read and published")
  func runs() throws {
    let first = try ledger.beginRun(asOf: Instant(seconds: 1), version: "1.0", options: "{}")
    let second = try ledger.beginRun(asOf: Instant(seconds: 2), version: "1.1", options: "{}")
    var tallies = ArchiveTallies()
    tallies.lines = 10
    tallies.accepted = 4
    tallies.duplicates = 3
    tallies.skipped = 2
    tallies.rejected = 1
    var both = tallies
    both.add(ArchiveTallies())
    #expect(both == tallies)
    try ledger.finishRun(second, archives: 5, tallies: tallies, published: "ab")
    let runs = try ledger.runs(newest: 9)
    #expect(runs.map(\.id) == [second, first])
    #expect(runs[0].tallies == tallies)
    #expect(runs[0].archives == 5)
    #expect(runs[0].published == "ab")
    #expect(runs[1].published == nil)
    #expect(try ledger.runs(newest: 1).count == 1)
  }
}
