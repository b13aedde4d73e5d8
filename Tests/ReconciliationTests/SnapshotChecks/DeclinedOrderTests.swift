import Reconciliation
import Testing
import Subscriptions
@testable import Domain

@Suite("An unpaid Play order that a snapshot of iaptic lists")
struct DeclinedOrderTests {
  private func codes(
    _ shown: Entitlement, in store: Store = .playStore, from provider: Provider = .iaptic
  ) -> [String] {
    var story = Story()
    story.report(.started, "2026-01-01", until: "2026-02-01", price: 10)
    story.report(.graceEntered, "2026-02-01", until: "2026-02-08")
    story.report(.expired, "2026-02-20", until: "2026-02-08")
    for index in story.events.indices {
      (story.events[index].provider, story.events[index].store) = (provider, store)
    }
    var entitlement = shown
    entitlement.store = store
    return Scenario(story, shown: entitlement, at: "2026-03-20", provider: provider).codes
  }

  private func over(until end: String, paid: String? = nil) -> Entitlement {
    let listed = SnapshotTransaction(
      id: "101", originalID: "100", at: paid.map { at($0) }, expiresAt: at(end))
    return premium(
      active: false, until: end, .canceled, product: "com.example.monthly", listing: [listed])
  }

  @Test("An order with the end of the previous period or its grace is not a missing charge")
  func declined() {
    for end in ["2026-02-01", "2026-02-08"] { #expect(codes(over(until: end)) == [], "\(end)") }
  }

  @Test("An order with a later end, its own date, or in another store is a charge")
  func charged() {
    #expect(codes(over(until: "2026-03-01")) == ["MISSED_RENEWAL"])
    #expect(codes(over(until: "2026-02-08", paid: "2026-02-01")).contains("MISSED_RENEWAL"))
    #expect(codes(over(until: "2026-02-08"), in: .appStore).contains("MISSED_RENEWAL"))
    var running = over(until: "2026-02-08")
    (running.isActive, running.renewState) = (true, .willRenew)
    #expect(codes(running).contains("MISSED_RENEWAL"))
  }

  @Test("While the payment fails, an end later by less than a period is the end of its grace")
  func failing() {
    func codes(until end: String) -> [String] {
      var shown = over(until: end)
      (shown.isActive, shown.renewState) = (true, .billingIssue)
      return self.codes(shown)
    }
    #expect(!codes(until: "2026-02-15").contains("MISSED_RENEWAL"))
    #expect(codes(until: "2026-03-04").contains("MISSED_RENEWAL"))
  }
}
