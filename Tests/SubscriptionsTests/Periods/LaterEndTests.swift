import Testing
import Domain

@testable import Subscriptions

@Suite("The store can postpone an end")
struct LaterEndTests {
  /// A period paid to 10 February; reports about its transaction can change its end.
  private let bought = Story.paid("2026-01-10", until: "2026-02-10")

  @Test("A later end in a cancel or expiry of the charge moves only the end")
  func putOff() throws {
    for canceled in ["2026-02-05", "2026-02-12"] {
      var story = bought
      story.report(.canceled, canceled, until: "2026-02-20")
      story.report(.expired, "2026-02-20", until: "2026-02-20")
      let facts = try story.facts(asOf: "2026-04-01")
      #expect(facts.days(.churnedVoluntary) == ["2026-02-20"] && facts.count(.churned) == 1)
      #expect(facts.mrr(.new) == "10.00" && facts.mrr(.churned) == "10.00")
      #expect(facts.total(\.grossUSD) == "10.00")
    }
    var alone = bought
    alone.report(.expired, "2026-02-20", until: "2026-02-20")
    #expect(try alone.facts(asOf: "2026-04-01").days(.churned) == ["2026-02-20"])
  }

  @Test("A subscription renewed at a postponed end never lapsed")
  func renewed() throws {
    var story = bought
    story.report(.canceled, "2026-01-31", until: "2026-02-20")
    story.report(.renewed, "2026-02-20", until: "2026-03-20", price: "10")
    let facts = try story.facts(asOf: "2026-03-01")
    #expect(facts.count(.churned) == 0 && facts.count(.reactivated) == 0)
    #expect(facts.count(.autoRenewOff) == 0)
  }

  @Test("The last reported end counts, but none before the paid end")
  func lastWord() throws {
    var story = bought
    story.report(.canceled, "2026-01-31", until: "2026-02-20")
    story.report(.canceled, "2026-02-01", until: "2026-02-10")
    #expect(try story.facts(asOf: "2026-04-01").days(.churned) == ["2026-02-10"])
    var early = bought
    early.report(.expired, "2026-01-20", until: "2026-01-20")
    #expect(try early.facts(asOf: "2026-04-01").days(.churned) == ["2026-02-10"])
  }

  @Test(
    "A failed payment, grace, a refund or a product change does not postpone an end",
    arguments: [EventKind.billingRetry, .graceEntered, .refunded, .productChanged])
  func otherKinds(kind: EventKind) throws {
    var story = bought
    story.report(kind, "2026-02-09", until: "2026-02-20") { $0.transaction = 101 }
    #expect(try story.facts(asOf: "2026-04-01").days(.churned) == ["2026-02-10"])
    guard kind == .billingRetry || kind == .graceEntered else { return }
    story.report(.expired, "2026-02-20", until: "2026-02-20") { $0.transaction = 101 }
    #expect(try story.facts(asOf: "2026-04-01").days(.churnedInvoluntary) == ["2026-02-10"])
  }

  @Test(
    "An end half a period later, or for another transaction, belongs to another charge")
  func ofAnotherCharge() throws {
    var story = bought
    story.report(.canceled, "2026-02-05", until: "2026-02-26")
    #expect(try story.facts(asOf: "2026-04-01").days(.churned) == ["2026-02-10"])
    story.events[1].periodEnd = at("2026-02-20")
    #expect(try story.facts(asOf: "2026-04-01").days(.churned) == ["2026-02-20"])
    story.events[1].transaction = 555
    #expect(try story.facts(asOf: "2026-04-01").days(.churned) == ["2026-02-10"])
  }

  @Test("A refund before a postponed end revokes access")
  func refunded() throws {
    var story = bought
    story.report(.canceled, "2026-02-05", until: "2026-02-20")
    story.report(.refunded, "2026-02-15", price: "10")
    #expect(try story.facts(asOf: "2026-04-01").days(.churnedRefund) == ["2026-02-15"])
  }

  @Test("Access by a charge that never arrived ends with its refund")
  func refundedUnseen() throws {
    var story = bought
    story.report(.canceled, "2026-02-20", until: "2026-03-10") {
      ($0.transaction, $0.startsLineage) = (102, false)
    }
    #expect(try story.facts(asOf: "2026-05-01").days(.churned) == ["2026-03-10"])
    story.report(.refunded, "2026-03-01", until: "2026-03-01", price: "-10") {
      $0.transaction = 102
    }
    let facts = try story.facts(asOf: "2026-05-01")
    #expect(facts.days(.churned) == ["2026-03-01"] && facts.count(.churnedRefund) == 1)
  }
}
