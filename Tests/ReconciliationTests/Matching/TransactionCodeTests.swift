import Reconciliation
import Testing
import Domain

@Suite("The kind of a missing transaction")
struct TransactionCodeTests {
  @Test("An id that differs from the original one is a renewal, unless a type or store denies it")
  func notTheFirst() {
    func codes(_ kind: SnapshotTransactionKind, _ store: Store = .appStore) -> [String] {
      var shown = premium(
        active: nil, until: "2026-03-01", nil,
        listing: [bought(122, kind, "2026-02-01", until: "2026-03-01")])
      shown.store = store
      return Scenario(entitlements: [shown], capturedAt: "2026-02-20").codes
    }
    #expect(codes(.unknown) == ["MISSED_RENEWAL"])
    #expect(codes(.started) == ["MISSED_START"])
    #expect(codes(.unknown, .stripe) == ["MISSED_START"])
  }

  @Test("A first payment long after a trial is a start, unless it follows a billing retry")
  func afterTrial() {
    var story = Story.trial
    let trial = bought(100, .trialStarted, "2026-01-01", until: "2026-01-08")
    func codes(_ kind: SnapshotTransactionKind, _ day: String, until end: String) -> [String] {
      Scenario(
        story, shown: premium(until: end, listing: [trial, bought(101, kind, day, until: end)]),
        at: "2026-03-25"
      ).codes
    }
    #expect(codes(.started, "2026-01-09", until: "2026-04-09") == ["MISSED_CONVERSION"])
    #expect(codes(.renewed, "2026-01-08", until: "2026-04-08") == ["MISSED_CONVERSION"])
    #expect(codes(.started, "2026-01-10", until: "2026-04-10") == ["MISSED_START"])
    #expect(codes(.unknown, "2026-01-10", until: "2026-04-10") == ["MISSED_START"])
    #expect(codes(.renewed, "2026-01-10", until: "2026-04-10") == ["MISSED_RENEWAL"])
    story.report(.billingRetry, "2026-01-08", until: "2026-01-08")
    // Sixty days after 8 January is 9 March.
    #expect(codes(.started, "2026-03-09", until: "2026-04-09") == ["MISSED_CONVERSION"])
    #expect(codes(.started, "2026-03-10", until: "2026-04-10") == ["MISSED_START"])
    story.report(.canceled, "2026-01-20", until: "2026-01-08")
    #expect(codes(.started, "2026-02-09", until: "2026-04-09") == ["MISSED_START"])
  }

  @Test("The first listed charge after an expiry is a start, also once it was renewed")
  func afterExpiry() {
    var story = Story.monthly(renewals: 0)
    story.reportEnd(canceled: "2026-01-10", until: "2026-02-01")
    story.report(.renewed, "2026-06-01", until: "2026-07-01", transaction: 105, price: 10, count: 1)
    func codes(_ months: [Int]) -> [String] {
      let list = [1] + months + [6]
      return Scenario(
        story,
        shown: premium(
          until: "2026-07-01",
          listing: list.map { bought(99 + $0, .unknown, month($0), until: month($0 + 1)) }),
        at: "2026-06-20"
      ).codes
    }
    #expect(codes([5]) == ["MISSED_START"])
    #expect(codes([4, 5]) == ["MISSED_RENEWAL", "MISSED_START"])
  }

  @Test("The payment after a reported trial is no trial, although another follows its end")
  func paymentAfterTrial() {
    var story = Story.trial
    story.report(.billingRetry, "2026-01-08", until: "2026-01-08")
    story.report(
      .trialConverted, "2026-02-12", until: "2026-03-12", transaction: 102, price: 10)
    let scenario = Scenario(
      story,
      shown: premium(
        until: "2026-03-12",
        listing: [
          bought(101, .unknown, "2026-01-12", until: "2026-02-12"),
          bought(102, .unknown, "2026-02-12", until: "2026-03-12"),
        ]), at: "2026-02-20")
    #expect(scenario.codes == ["MISSED_CONVERSION"])
  }

  @Test("The count begins with a missing start long after the trial")
  func countedFromLateStart() {
    var story = Story.trial
    story.report(.trialExpired, "2026-01-08", until: "2026-01-08")
    story.report(.renewed, "2026-04-10", until: "2026-05-10", transaction: 102, price: 10, count: 1)
    let scenario = Scenario(
      story,
      shown: premium(
        until: "2026-05-10", count: 1,
        listing: [
          bought(100, .trialStarted, "2026-01-01", until: "2026-01-08"),
          bought(101, .started, "2026-03-10", until: "2026-04-10"),
          bought(102, .renewed, "2026-04-10", until: "2026-05-10"),
        ]), at: "2026-04-20")
    #expect(scenario.codes == ["MISSED_START"])
    #expect(scenario.breaks.map(\.transaction) == ["101"])
  }

  @Test("A purchase without a price is a trial start and worth nothing")
  func freePurchase() {
    var story = Story()
    story.report(
      .trialConverted, "2026-01-08", until: "2027-01-08", transaction: 101, price: 60,
      product: Story.yearly)
    func scenario(_ kind: SnapshotTransactionKind) -> Scenario {
      Scenario(
        story,
        shown: premium(
          active: nil, until: "2027-01-08", product: "com.example.yearly",
          listing: [
            bought(101, .unknown, "2026-01-08", until: "2027-01-08"),
            bought(100, kind, "2026-01-01", until: "2026-01-08"),
          ]), at: "2026-01-20")
    }
    // Without its price, the conversion at its end proves the same.
    for kind in [SnapshotTransactionKind.free, .unknown] {
      #expect(scenario(kind).codes == ["MISSED_START"])
      #expect(scenario(kind).breaks.map(\.estimatedUSD) == [.zero])
    }
    story.report(.trialStarted, "2026-01-01", until: "2026-01-08", product: Story.yearly)
    #expect(scenario(.free).codes == [])
  }

  @Test("A free purchase that was reported as a charge is not missing")
  func freeCharge() {
    let scenario = Scenario(
      .monthly(renewals: 0),
      shown: premium(
        active: nil, until: "2026-02-01",
        listing: [bought(100, .free, "2026-01-01", until: "2026-02-01")]), at: "2026-01-20")
    #expect(scenario.codes == [])
  }

  @Test("A revoked trial in a list without types misses no refund")
  func revokedTrial() {
    var story = Story()
    story.report(.trialStarted, "2026-01-01", until: "2026-01-08")
    let listed = bought(100, .unknown, "2026-01-01", until: "2026-01-08", revoked: "2026-01-03")
    let shown = premium(active: false, until: "2026-01-03", .canceled, listing: [listed])
    #expect(!Scenario(story, shown: shown, at: "2026-02-20").codes.contains("MISSED_REFUND"))
  }
}
