import TestSupport
import Testing

@Suite("A user in any event has events, whichever user the last event names")
struct RestoredPurchaseTests {
  /// Codes and users of the breaks as of 10 June.
  private func breaks(_ reported: [String], _ snapshots: [String]) throws -> [String] {
    let program = try Program()
    try program.folder.write(reported.joined(separator: "\n"), to: "in/a.jsonl")
    try program.folder.write(snapshots.joined(separator: "\n"), to: "snap/a.jsonl")
    try program.run([
      "run", "--archives", "in", "--snapshots", "snap", "--as-of", "2026-06-10",
    ]).ended(0, 1)
    return try program.rows("breaks.csv")
      .map { "\($0["code"] ?? "") \($0["user_id"] ?? "")" }.sorted()
  }

  /// A user's purchase in an app, as FLOBUK reports it.
  private func flobuk(_ user: String, _ order: String, at time: Int, app: String = "one") -> String
  {
    #"{"receivedAt":\#(time),"headers":{"X-App-Id":"\#(app)"},"body":{"user":"\#(user)","#
      + #""timestamp":\#(time),"transaction":"GPA.\#(order)","store":"GooglePlay","#
      + #""data":{"type":"Non-Consumable","productId":"no_ads","sandbox":false}}}"#
  }

  private func shown(_ user: String, app: String = "one") -> String {
    #"{"user":"\#(user)","app_id":"\#(app)","captured_at":"2026-06-09T12:00:00Z","#
      + #""purchases":[{"data":{"type":"Non-Consumable","productId":"no_ads","sandbox":false}}]}"#
  }

  @Test("A purchase restored by another user does not mean absent events of the first")
  func restored() throws {
    // Another user's events make both apps known, before and after.
    let signs = [("one", "1"), ("two", "2")].flatMap { app, order in
      [
        flobuk("x", order + "1", at: 1_764_547_200, app: app),
        flobuk("x", order + "2", at: 1_781_035_200, app: app),
      ]
    }
    let reported = [flobuk("a", "7", at: 1_778_371_200), flobuk("b", "7", at: 1_778_457_600)]
    for order in [reported, reported.reversed()] {
      #expect(try breaks(signs + order, [shown("a"), shown("b")]) == [])
    }
    // The third user has no events, and the first none in that app.
    #expect(
      try breaks(signs + reported, [shown("a"), shown("c"), shown("a", app: "two")])
        == ["EVENTS_ABSENT a", "EVENTS_ABSENT c"])
  }

  @Test("A restored purchase without a listed transaction does not mean absent events either")
  func withoutTransactions() throws {
    func purchases(_ ids: String) -> String {
      #""purchases":{"apple:pro":{"productId":"apple:pro",\#(ids)"platform":"apple","#
        + #""purchaseDate":"2026-05-20T00:00:00Z","expirationDate":"2026-06-20T00:00:00Z","#
        + #""isExpired":false,"renewalIntent":"Renew"}}"#
    }
    let ids = #""purchaseId":"apple:101","transactionId":"apple:101","#
    let reported = [("a", "2026-05-20T00:00:05Z"), ("b", "2026-06-09T23:00:00Z")].map {
      user, date in
      #"{"type":"purchases.updated","applicationUsername":"\#(user)","password":"p","#
        + #""notification":{"reason":"RECEIPT_VALIDATED","id":"\#(user)","date":"\#(date)"},"#
        + "\(purchases(ids))}"
    }
    let snapshots = ["a", "b", "c"].map { user in
      #"{"applicationUsername":"\#(user)","captured_at":"2026-06-09T12:00:00Z",\#(purchases(""))}"#
    }
    #expect(try breaks(reported, Array(snapshots.prefix(2))) == [])
    #expect(try breaks(reported, snapshots) == ["EVENTS_ABSENT c"])
  }
}
