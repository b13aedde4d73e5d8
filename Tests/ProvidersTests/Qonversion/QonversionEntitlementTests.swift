import Testing
import Domain

@testable import Providers

@Suite("Entitlements in Qonversion bodies")
struct QonversionEntitlementTests {
  /// The renewal of the sample ends at 1762592000.
  private func kept(
    _ entitlements: String, in body: Body = Body.renewal
  ) -> [BodyNotes] {
    let batch = normalise(body.with("entitlements", entitlements).line)
    #expect(batch.events.count == 1 && batch.rejects.isEmpty)
    return batch.notes
  }

  private func access(_ id: String, until end: String, _ more: String = "") -> String {
    #"{"id":"\#(id)","active":true,"started":1752000000,"expires":\#(end),"#
      + #""source":"appstore"\#(more)}"#
  }

  @Test("Entitlements that only repeat the end of the event's own period are dropped")
  func own() {
    #expect(kept("{}").isEmpty)
    #expect(kept(#"{"0":\#(access("premium", until: "1762592000"))}"#).isEmpty)
    #expect(kept(#"{"0":\#(access("premium", until: "1762592060"))}"#).isEmpty)
    #expect(kept("null").isEmpty)
  }

  @Test("Entitlements that began before the counted renewals are kept, with their start")
  func earlier() {
    // The period began at 1760000000, 30 days before its end.
    let first = Body.renewal.with("subscription_renew_count", "1")
    for (started, isKept) in [("1728464000", true), ("1752000000", true), ("1754900000", false)] {
      let sent = access("premium", until: "1762592000").replacing("1752000000", with: started)
      #expect(kept(sent.inList, in: first).isEmpty == !isKept, "\(started)")
      #expect(kept(sent.inList, in: first.with("subscription_renew_count", "13")).isEmpty)
    }
  }

  @Test("All entitlements of a body are kept if one ends later or never, in REST v3 or v4")
  func beyond() throws {
    let product =
      #","product":{"product_id":"pro","subscription":{"renew_state":"canceled"}}"#
    let two =
      #"{"0":\#(access("news", until: "1762592000")),"1":"#
      + #"\#(access("premium", until: "1762592061", product))}"#
    let sent = try #require(kept(two).first)
    #expect(sent.event == 0)
    #expect(sent.entitlements.map(\.id) == ["news", "premium"])
    let premium = sent.entitlements[1]
    #expect(premium.expiresAt == Instant(seconds: 1_762_592_061))
    #expect(premium.startedAt == Instant(seconds: 1_752_000_000))
    #expect(premium.product == "pro" && premium.renewState == .canceled)
    #expect(premium.isActive == true && premium.store == .appStore)
    let v4 = #"[{"id":"premium","is_active":true,"expires_at":"2025-12-01T00:00:00Z"}]"#
    #expect(kept(v4).first?.entitlements.map(\.id) == ["premium"])
    #expect(kept(#"{"0":\#(access("archive", until: "null"))}"#).count == 1)
  }

  @Test("Inactive entitlements, manual grants, sandbox bodies and malformed lists are dropped")
  func others() {
    let later = access("premium", until: "1790000000")
    #expect(kept("{\"0\":\(later)}").count == 1)
    #expect(kept(later.replacing("true", with: "false").inList).isEmpty)
    #expect(kept(later.replacing("appstore", with: "manual").inList).isEmpty)
    #expect(kept(later.replacing(#""id":"premium","#, with: "").inList).isEmpty)
    #expect(kept("{\"0\":7}").isEmpty)
    let sandbox = Body.renewal.with("environment", "\"sandbox\"")
    #expect(kept(later.inList, in: sandbox).isEmpty)
  }

  @Test("The only entitlement of a one-time purchase is dropped, unless it began earlier")
  func oneTime() {
    let purchase = Body.renewal.with("event_name", "\"in_app_purchase\"")
      .with("transaction", #"{"transaction_id":7,"transaction_date":1760000000}"#)
    let earlier = access("archive", until: "null")
    let archive = earlier.replacing("1752000000", with: "1760000000")
    #expect(kept(archive.inList, in: purchase).isEmpty)
    #expect(kept(earlier.inList, in: purchase).count == 1)
    #expect(kept("[\(archive),\(access("premium", until: "1762592000"))]", in: purchase).count == 1)
  }

  @Test("Kept entitlements belong to the event of their body")
  func numbers() {
    let later = Body.renewal.with("entitlements", access("premium", until: "1790000000").inList)
    let batch = normalise([Body.renewal.line, later.line, later.line].joined(separator: "\n"))
    #expect(batch.notes.map(\.event) == [1, 2])
  }
}

extension String {
  var inList: String { "[\(self)]" }
}
