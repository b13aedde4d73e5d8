import Reconcile
import Testing
import Timeline
import Vocabulary

@Suite("Breaks that events alone are")
struct FindingBreaksTests {
  private let rules = ReconcileRules(rules: Rules(asOf: at("2026-06-01")))

  private func found(_ story: Story) throws -> [Break] {
    let life = try Life(events: story.events, rules: rules.rules)
    let lineage = try #require(story.lineage(until: at("2026-06-01")))
    return breaks(from: life.findings, lineage: lineage, rules: rules)
  }

  @Test("Revenue on a cancel is a break that says how much and of which subscription")
  func unexpectedRevenue() throws {
    var story = Story.monthly(renewals: 1)
    #expect(try found(story).isEmpty)
    story.tell(.canceled, "2026-02-05", until: "2026-03-01", transaction: 101, price: 3)
    let raised = try found(story)
    #expect(raised.map(\.code) == [.unexpectedRevenue])
    #expect(raised[0].estimatedUSD == Amount(micros: 3_000_000))
    #expect(raised[0].subscription == "100")
    #expect(raised[0].transaction == "101")
    #expect(raised[0].status == .open)
    #expect(raised[0].settlesAt == nil)
  }

  @Test("The same oddity in two events is two breaks")
  func twice() throws {
    var story = Story.monthly(renewals: 1)
    story.tell(.canceled, "2026-02-05", until: "2026-03-01", transaction: 101, price: 3)
    story.tell(.billingRetry, "2026-02-06", until: "2026-03-01", transaction: 101, price: 3)
    let raised = try found(story)
    #expect(raised.count == 2)
    #expect(raised.map(\.id) == raised.map(\.id).sorted())
  }

  @Test("In the sandbox an oddity is mere information, without money")
  func sandbox() throws {
    var story = Story(environment: .sandbox)
    story.tell(.started, "2026-01-01", until: "2026-02-01", price: 10)
    story.tell(.canceled, "2026-01-05", until: "2026-02-01", price: 3)
    let raised = try found(story)
    #expect(raised.map(\.severity) == [.info])
    #expect(raised.map(\.estimatedUSD) == [nil])
  }

  @Test("Versions that differ are a conflict, named by fields and never by contents")
  func conflict() throws {
    let lineage = try #require(Story.monthly(renewals: 1).lineage(until: at("2026-06-01")))
    let conflict = EventConflict(
      identity: 42, transaction: 101, time: at("2026-02-01"), product: Story.monthly, versions: 2,
      fields: ["revenue", "expires"], difference: Amount(micros: 60_000_000))
    let raised = conflictBreak(conflict, lineage: lineage, rules: rules)
    #expect(raised.code == .conflict)
    #expect(raised.severity == .high)
    #expect(raised.evidence.contains("differ in expires, revenue"))
    var other = conflict
    other.identity = 43
    #expect(conflictBreak(other, lineage: lineage, rules: rules).id != raised.id)
  }
}
