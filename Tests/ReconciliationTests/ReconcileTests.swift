import Reconciliation
import Testing
import Domain

@Suite("All checks for one user")
struct ReconcileTests {
  @Test("One lost renewal is one break, whichever checks could find it")
  func oneLoss() {
    let shapes = [
      premium(until: "2026-07-01", count: 5, listing: monthlyTransactions(renewals: 5)),
      premium(until: "2026-07-01", count: 5),
      premium(until: "2026-07-01", started: "2026-01-01"),
    ]
    for lost in 1...4 {
      for shape in shapes {
        let scenario = Scenario(
          .monthly(renewals: 5, without: [lost]), shown: shape, at: "2026-06-20")
        #expect(scenario.codes == ["MISSED_RENEWAL"], "renewal \(lost)")
        #expect(scenario.breaks.map(\.missingEvents) == [1])
      }
    }
    for shape in shapes {
      let scenario = Scenario(.monthly(renewals: 4), shown: shape, at: "2026-06-20")
      #expect(scenario.codes == ["MISSED_RENEWAL"])
      #expect(scenario.breaks.map(\.missingEvents) == [1])
    }
  }

  @Test("A lost start is one break, with and without the provider's counters")
  func lostStart() {
    for counted in [true, false] {
      let story = Story.monthly(renewals: 5, without: [0], counted: counted)
      for shape in [
        premium(until: "2026-07-01", count: 5, listing: monthlyTransactions(renewals: 5)),
        premium(until: "2026-07-01", started: "2026-01-01", count: 5),
        premium(until: "2026-07-01", started: "2026-01-01"),
      ] {
        let scenario = Scenario(story, shown: shape, at: "2026-06-20")
        #expect(scenario.codes == ["MISSED_START"], "counted \(counted)")
      }
    }
  }

  @Test("A changed price is not a break")
  func newPrice() {
    var story = Story.monthly(renewals: 1)
    story.report(
      .renewed, "2026-03-01", until: "2026-04-01", transaction: 102, price: 14, count: 2)
    let scenario = Scenario(story, shown: premium(until: "2026-04-01", count: 2), at: "2026-03-20")
    #expect(scenario.codes == [])
  }

  @Test("A break is pending until the provider can no longer deliver, by as-of and by watermark")
  func settlement() {
    var scenario = Scenario(
      .monthly(renewals: 1),
      shown: premium(until: "2026-04-01", count: 2, listing: monthlyTransactions(renewals: 2)),
      at: "2026-03-02T02:59:59")
    #expect(scenario.breaks.map(\.status) == [.pending])
    #expect(scenario.breaks.map(\.settlesAt) == [at("2026-03-02T03:00:00")])
    #expect(scenario.breaks.map(\.evidenceExpiresAt) == [at("2026-03-08")])
    scenario.capturedAt = "2026-03-02T03:00:00"
    #expect(scenario.breaks.map(\.status) == [.open])
    scenario.watermark = "2026-03-01T12:00:00"
    #expect(scenario.breaks.map(\.status) == [.pending])
  }

  @Test("The id stays the same when the code of the loss changes")
  func stableID() throws {
    func id(_ kind: SnapshotTransactionKind) throws -> String {
      let scenario = Scenario(
        entitlements: [premium(until: "2026-03-01", listing: [bought(100, kind, "2026-02-01")])],
        capturedAt: "2026-02-20")
      return try #require(scenario.breaks.first).id
    }
    let ids = try [id(.started), id(.renewed), id(.oneTime)]
    #expect(Set(ids).count == 1)
    #expect(ids[0].count == 18 && ids[0].hasPrefix("b-"))
    #expect(ids[0].dropFirst(2).allSatisfy { "0123456789abcdef".contains($0) })
  }

  @Test("Any order of lineages, entitlements and transactions gives the same breaks")
  func anyOrder() {
    var other = Story.monthly(renewals: 3, without: [2])
    other.original = "900"
    for index in other.events.indices { other.events[index].transaction += 800 }
    var second = premium(until: "2026-05-01", count: 3)
    second.id = "second"
    second.transactions = monthlyTransactions(renewals: 3).map {
      var transaction = $0
      transaction.id = String((Int($0.id) ?? 0) + 800)
      transaction.originalID = "900"
      return transaction
    }
    let first = premium(until: "2026-08-01", .canceled, listing: monthlyTransactions(renewals: 3))
    var turned = [second, first]
    for index in turned.indices { turned[index].transactions.reverse() }
    let stories = [Story.monthly(renewals: 2), other]
    let one = Scenario(
      stories: stories, entitlements: [first, second], capturedAt: "2026-04-20")
    let two = Scenario(
      stories: stories.reversed(), entitlements: turned, capturedAt: "2026-04-20")
    #expect(one.outcome == two.outcome)
    #expect(one.breaks.count >= 3)
    #expect(one.breaks.map(\.id) == one.breaks.map(\.id).sorted())
  }

  @Test("Severity depends on the amount, whatever its sign")
  func severity() {
    let thresholds = SeverityThresholds()
    let amounts: [Int64] = [0, 999_999, -1_000_000, 50_000_000, -500_000_000]
    let severities = amounts.map { thresholds.severity(of: Amount(micros: $0)) }
    #expect(severities == [.info, .low, .medium, .high, .critical])
    #expect(thresholds.severity(of: nil) == .medium)
  }
}
