import Reconciliation
import Testing
import Domain

@Suite("Churn that a missing event could contradict")
struct ChurnInDoubtTests {
  @Test("An end inside a missing period is doubtful churn, in the row that counts it")
  func missedRenewal() throws {
    var scenario = Scenario(
      .monthly(renewals: 3, without: [2]),
      shown: premium(until: "2026-05-01", listing: monthlyTransactions(renewals: 3)),
      at: "2026-04-20")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    let doubt = try #require(scenario.outcome.churnInDoubt.first)
    #expect(scenario.outcome.churnInDoubt.count == 1)
    #expect(doubt.at == at("2026-03-01"))
    #expect(doubt.productKey.product == Story.monthly)
    scenario.stories = [.monthly(renewals: 3)]
    #expect(scenario.outcome.churnInDoubt == [])
  }

  @Test("A silent end is doubtful churn; a reported expiry is not")
  func silence() {
    var scenario = Scenario(.monthly(renewals: 1), shown: nil, at: "2026-03-20")
    #expect(scenario.outcome.churnInDoubt.map(\.at) == [at("2026-03-01")])
    scenario.stories[0].report(.expired, "2026-03-01", until: "2026-03-01", transaction: 101)
    #expect(scenario.outcome.churnInDoubt == [])
  }

  @Test("A pause is never doubtful churn")
  func pause() {
    var story = Story.monthly(renewals: 1)
    let renewed = premium(until: "2026-04-01", listing: monthlyTransactions(renewals: 2))
    let churned = Scenario(story, shown: renewed, at: "2026-03-20")
    #expect(churned.outcome.churnInDoubt.map(\.at) == [at("2026-03-01")])
    story.report(.paused, "2026-02-20", until: "2026-03-01", transaction: 101)
    let paused = Scenario(story, shown: renewed, at: "2026-03-20")
    #expect(paused.codes == ["MISSED_RENEWAL"])
    #expect(paused.outcome.churnInDoubt == [])
  }

  @Test("A missing event at another time casts no doubt on an end")
  func elsewhere() {
    var story = Story.monthly(renewals: 1)
    story.report(.expired, "2026-03-01", until: "2026-03-01", transaction: 101)
    story.report(.started, "2026-06-01", until: "2026-07-01", transaction: 105, price: 10)
    let listed =
      monthlyTransactions(renewals: 1) + [
        bought(104, .started, "2026-05-01", until: "2026-06-01"),
        bought(105, .started, "2026-06-01", until: "2026-07-01"),
      ]
    let scenario = Scenario(
      story, shown: premium(until: "2026-07-01", listing: listed), at: "2026-06-20")
    #expect(scenario.codes == ["MISSED_START"])
    #expect(scenario.outcome.churnInDoubt == [])
  }
}
