import Reconciliation
import Testing
import Domain

@Suite("The period that the snapshot shows")
struct ShownPeriodTests {
  /// A subscription to `product` that was canceled and ended with January.
  private func lapsed(_ product: StringID, from start: String = "2026-01-01") -> Story {
    var story = Story()
    story.report(.started, start, until: "2026-02-01", price: 10, count: 0, product: product)
    story.report(.canceled, "2026-01-20", until: "2026-02-01", product: product)
    story.report(.expired, "2026-02-01", until: "2026-02-01", product: product)
    return story
  }

  private func found(
    _ story: Story, _ shown: Entitlement, on day: String = "2026-06-10",
    lengths: [String: PeriodLength] = [:]
  ) -> [Break] {
    Scenario(
      story, shown: shown, at: day,
      change: { rules in
        rules.products["yearly"] = ["com.example.yearly"]
        rules.lengths = lengths
      }
    ).breaks
  }

  @Test("A return with another product is measured by the length of that product")
  func restartOfOther() {
    let week = lapsed(3, from: "2026-01-25")
    let dated = premium(until: "2026-06-11", started: "2026-05-11")
    // Without a length it is one charge; with a length, as many as fit.
    #expect(found(week, dated).map(\.missingEvents) == [1])
    let months: [String: PeriodLength] = ["com.example.monthly": .months(1)]
    #expect(found(week, dated, lengths: months).map(\.missingEvents) == [1])
    let long = premium(until: "2026-06-11", started: "2026-04-11")
    #expect(found(week, long, lengths: months).map(\.missingEvents) == [2])
    let years: [String: PeriodLength] = ["com.example.yearly": .months(12)]
    let year = premium(until: "2027-05-20", product: "yearly", started: "2026-01-01")
    let restart = found(lapsed(Story.monthly), year, lengths: years)
    #expect(restart.map(\.code) == [.missedStart])
    #expect(restart.map(\.expectedAt) == [at("2026-05-20")])
    #expect(restart.map(\.status) == [.open])
  }

  @Test("A change of product is expected when the period shown began")
  func changed() {
    let years: [String: PeriodLength] = ["com.example.yearly": .months(12)]
    let change = found(
      .monthly(renewals: 0), premium(until: "2027-01-20", product: "yearly"), lengths: years)
    #expect(change.map(\.code) == [.missedProductChange])
    #expect(change.map(\.expectedAt) == [at("2026-01-20")])
  }

  @Test("A return is never expected later than the snapshot that shows it")
  func neverLater() {
    let year = premium(until: "2027-05-20", product: "yearly")
    let restart = found(lapsed(Story.monthly), year)
    #expect(restart.map(\.code) == [.missedStart])
    #expect(restart.map(\.expectedAt) == [at("2026-02-01")])
  }

  @Test("After a reported end, a restarted counter does not hide the return")
  func newCounter() {
    let months: [String: PeriodLength] = ["com.example.monthly": .months(1)]
    for count in [nil, 0, 1] as [Int32?] {
      let restart = found(
        lapsed(Story.monthly), premium(until: "2026-06-20", count: count), lengths: months)
      #expect(restart.map(\.code) == [.missedStart])
      #expect(restart.map(\.expectedAt) == [at("2026-05-20")])
      #expect(restart.map(\.missingEvents) == [1])
    }
    // If access is off again, or within the gap after the end, the counter still counts.
    let off = premium(active: false, until: "2026-02-20", .canceled, count: 0)
    #expect(!found(lapsed(Story.monthly), off).contains { $0.code == .missedStart })
  }

  @Test("A recovered payment began its period one length before the end shown")
  func recovered() {
    var story = Story.monthly(renewals: 1)
    story.report(.billingRetry, "2026-03-01", until: "2026-03-01", transaction: 101)
    let months: [String: PeriodLength] = ["com.example.monthly": .months(1)]
    let late = found(
      story, premium(until: "2026-05-10T08:00:00"), on: "2026-04-10T12:00:00", lengths: months)
    #expect(late.map(\.code) == [.missedRenewal])
    #expect(late.map(\.expectedAt) == [at("2026-04-10T08:00:00")])
    #expect(late.map(\.status) == [.pending])
    let lost = found(
      story, premium(until: "2026-05-10T08:00:00"), on: "2026-04-20", lengths: months)
    #expect(lost.map(\.id) == late.map(\.id))
    #expect(lost.map(\.status) == [.open])
  }

  @Test("A reported end after a failed payment proves one charge after the billing retry")
  func recoveredAndEnded() {
    var story = Story.monthly(renewals: 1)
    story.report(.billingRetry, "2026-03-01", until: "2026-03-01", transaction: 101)
    story.report(.expired, "2026-04-26", until: "2026-04-26", transaction: 102)
    let ended = premium(active: false, until: "2026-04-26", .canceled)
    let charge = found(story, ended)
    #expect(charge.map(\.missingEvents) == [1])
    #expect(charge.map(\.expectedAt) == [at("2026-03-29")])
    // The failed payment may be for a later period: then all earlier charges are missing.
    var later = Story.monthly(renewals: 1)
    later.report(.billingRetry, "2026-05-01", until: "2026-05-01", transaction: 103)
    let failing = premium(active: false, until: "2026-05-01", .billingIssue)
    #expect(found(later, failing).map(\.missingEvents) == [2])
  }

  @Test("A later end from the charge's last state is not a mismatch; an earlier one is")
  func reportedLast() {
    func codes(_ reported: String, after kind: EventKind? = nil, shown: String) -> [String] {
      var story = Story.monthly(renewals: 1)
      if let kind { story.report(kind, "2026-02-20", until: "2026-03-01", transaction: 101) }
      story.report(.canceled, "2026-02-21", until: reported, transaction: 101)
      story.report(.expired, "2026-03-09", until: reported, transaction: 101)
      return Scenario(
        story, shown: premium(active: false, until: shown, .canceled), at: "2026-03-20"
      ).codes
    }
    #expect(codes("2026-03-08", shown: "2026-03-08") == [])
    #expect(codes("2026-03-08", after: .billingRetry, shown: "2026-03-08") == [])
    #expect(codes("2026-03-08", shown: "2026-03-01") == ["EXPIRY_MISMATCH"])
    #expect(codes("2026-02-22", shown: "2026-02-22") == ["EXPIRY_MISMATCH"])
  }

  @Test("A cancel before a subscription ended does not account for one after it began again")
  func canceledAgain() {
    var story = Story.monthly(renewals: 1)
    story.reportEnd(canceled: "2026-02-20", until: "2026-03-01", transaction: 101)
    story.report(.renewed, "2026-04-01", until: "2026-05-01", transaction: 102, price: 10, count: 2)
    let scenario = Scenario(story, shown: premium(until: "2026-05-01", .canceled), at: "2026-04-20")
    #expect(scenario.codes == ["MISSED_CANCEL"])
  }

  @Test("A lost change to a shorter product is one loss, although the longer one was paid")
  func shorter() {
    var story = Story()
    story.report(.started, "2026-01-18", until: "2027-01-18", price: 90, product: Story.yearly)
    story.report(.canceled, "2026-03-03", until: "2026-03-16", transaction: 101) {
      $0.periodStart = at("2026-02-16")
    }
    let listed = [
      bought(100, .started, "2026-01-18", until: "2026-02-16"),
      bought(101, .renewed, "2026-02-16", until: "2026-03-16"),
    ]
    let scenario = Scenario(
      story, shown: premium(active: true, until: "2026-03-16", .canceled, listing: listed),
      at: "2026-03-10")
    #expect(scenario.breaks.map(\.transaction) == ["101"])
  }

  @Test("The first renewal after a change to a shorter product is pending as soon as it is due")
  func announced() {
    var story = Story()
    story.report(.started, "2026-01-12", until: "2027-01-12", price: 90, product: Story.yearly)
    story.report(.productChanged, "2026-06-20", until: "2027-01-12") {
      $0.previousProduct = Story.yearly
    }
    let breaks = found(
      story, premium(until: "2027-02-12"), on: "2027-01-12T20:00:00",
      lengths: ["com.example.monthly": .months(1)])
    #expect(breaks.map(\.code) == [.missedRenewal])
    #expect(breaks.map(\.expectedAt) == [at("2027-01-12")])
    #expect(breaks.map(\.status) == [.pending])
  }
}
