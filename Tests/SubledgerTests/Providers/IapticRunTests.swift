import TestSupport
import Testing

@Suite("iaptic's notifications about other transactions than shown, and repeated ones")
struct IapticRunTests {
  /// A line about transaction `reported` of a monthly subscription; its collection shows `shown`.
  private func line(
    _ reason: String, _ id: String, _ date: String, _ reported: String, shown: Int, price: String
  ) -> String {
    let (start, end) = ("2026-0\(shown)-01T00:00:00.000Z", "2026-0\(shown + 1)-01T00:00:00.000Z")
    return """
      {"type":"purchases.updated","applicationUsername":"u1","password":"p",\
      "notification":{"reason":"\(reason)","id":"\(id)","date":"\(date)",\
      "productId":"apple:pro","purchaseId":"apple:101","transactionId":"apple:\(reported)"},\
      "purchases":{"apple:pro":{"productId":"apple:pro","purchaseId":"apple:101",\
      "transactionId":"apple:10\(shown)","platform":"apple","purchaseDate":"2026-01-01T00:00:00Z",\
      "lastRenewalDate":"\(start)","expirationDate":"\(end)","isExpired":false,\
      "renewalIntent":"Renew","currency":"USD","amountUSD":\(price)}}}
      """
  }

  private var start: String {
    line("PURCHASED", "n1", "2026-01-01T00:00:05Z", "101", shown: 1, price: "1.99")
  }

  private var renewal: String {
    line("RENEWED", "n2", "2026-02-01T00:00:05Z", "102", shown: 2, price: "9.99")
  }

  /// The published reports of `lines`, in one run and, in reverse order, by one run per line.
  private func reports(
    _ lines: [String], asOf: String, _ names: [String]
  ) throws -> [String: [[String: String]]] {
    let program = try Program()
    try program.folder.write("freshness_max: 60d\n", to: "subledger.yaml")
    try program.publishBothWays(lines, asOf: asOf)
    let both = try ["one/out", "many/out"].map { out in
      Dictionary(
        uniqueKeysWithValues: try names.map { ($0, try program.rows("\($0).csv", in: out)) })
    }
    #expect(both[0] == both[1], "order and nights change nothing")
    return both[0]
  }

  private static let names = ["revenue_monthly", "churn_monthly", "renewals_monthly"]

  @Test("A refund of an older period refunds that period's price and ends nothing")
  func refund() throws {
    let refund = line("REFUNDED", "n3", "2026-02-10T00:00:00Z", "101", shown: 2, price: "9.99")
    let reported = try reports([start, renewal, refund], asOf: "2026-02-11", Self.names)
    let refunds = reported["revenue_monthly"]?.compactMap { $0["refunds_usd"] } ?? []
    #expect(refunds.filter { $0 != "0.00" } == ["1.99"])
    #expect(reported["churn_monthly"]?.last?["active_close"] == "1")
    #expect(reported["churn_monthly"]?.allSatisfy { $0["churned"] == "0" } == true)
    #expect(reported["renewals_monthly"]?.map { $0["renewals_refunded"] } == ["0"])
  }

  @Test("A revocation of an older period ends nothing")
  func revocation() throws {
    let end = line("REVOKED", "n3", "2026-02-10T00:00:00Z", "101", shown: 2, price: "9.99")
    let reported = try reports([start, renewal, end], asOf: "2026-02-11", Self.names)
    #expect(reported["churn_monthly"]?.last?["active_close"] == "1")
  }

  @Test("Without snapshots, too, renewals date a lost purchase after a lapse, in any store")
  func boughtAfterLapse() throws {
    let lapsed = line("EXPIRED", "n2", "2026-02-01T00:00:05Z", "101", shown: 1, price: "1.99")
      .replacing(#""isExpired":false"#, with: #""isExpired":true"#)
      .replacing(#""renewalIntent":"Renew""#, with: #""renewalIntent":"Lapse""#)
    let renewed = line("RENEWED", "n3", "2026-05-01T00:00:05Z", "105", shown: 5, price: "9.99")
      .replacing("apple:101", with: "apple:104")
      .replacing("2026-01-01T00:00:00Z", with: "2026-04-01T00:00:00Z")
    let program = try Program()
    let lines = [start, lapsed, renewed].map { $0.replacing("apple", with: "stripe") + "\n" }
    try program.folder.write(lines.joined(), to: "in/a.jsonl")
    try program.run(["run", "--archives", "in", "--as-of", "2026-05-03"]).ended(0, 1)
    let found = try program.rows("breaks.csv").filter { $0["code"]?.hasPrefix("MISSED") == true }
    #expect(found.map { $0["code"] } == ["MISSED_START"])
    #expect(found.map { $0["expected_at"] } == ["2026-04-01T00:00:00Z"])
  }

  @Test("A renewal that arrives when the collection shows the next one counts by itself")
  func lateRenewal() throws {
    let late = line("RENEWED", "n2", "2026-02-01T00:00:05Z", "102", shown: 3, price: "9.99")
    let next = line("RENEWED", "n3", "2026-03-01T00:00:05Z", "103", shown: 3, price: "9.99")
    // Stripe sends the subscription's id instead of the charge's.
    let stripe = [start, late, next].map {
      $0.replacing(/apple:10\d/, with: "stripe:sub_1").replacing("apple", with: "stripe")
    }
    for lines in [[start, late, next], stripe] {
      let reported = try reports(lines, asOf: "2026-03-02", Self.names)
      #expect(reported["renewals_monthly"]?.map { $0["renewals"] } == ["1", "1"])
      #expect(reported["churn_monthly"]?.map { $0["active_close"] } == ["1", "1", "1"])
      #expect(reported["churn_monthly"]?.allSatisfy { $0["reactivated"] == "0" } == true)
    }
  }

  @Test("A repeated notification with another collection or date is one charge")
  func again() throws {
    let moved = line("RENEWED", "n2", "2026-02-01T00:00:05Z", "102", shown: 3, price: "9.99")
    let redated = line("RENEWED", "n2", "2026-02-01T00:00:06Z", "102", shown: 2, price: "9.99")
    for copy in [moved, redated] {
      let reported = try reports([start, renewal, copy], asOf: "2026-02-11", Self.names)
      #expect(reported["renewals_monthly"]?.map { $0["renewals"] } == ["1"])
      #expect(reported["revenue_monthly"]?.map { $0["charges"] } == ["1", "1"])
    }
    let result = try reports([start, renewal, moved], asOf: "2026-02-11", ["breaks"])
    #expect(result["breaks"]?.contains { $0["code"] == "CONFLICT" } == true)
  }

  @Test("Another notification about the same transaction adds no second charge or refund")
  func otherNotification() throws {
    func refund(_ id: String, _ date: String) -> String {
      line("REFUNDED", id, date, "102", shown: 2, price: "9.99")
    }
    let again = line("RENEWED", "m2", "2026-02-01T00:00:05Z", "102", shown: 2, price: "9.99")
    let later = line("RENEWED", "o2", "2026-02-01T00:10:05Z", "102", shown: 2, price: "9.99")
    let reported = try reports(
      [
        start, renewal, again, later, refund("n3", "2026-02-10T00:00:00Z"),
        refund("m3", "2026-02-10T00:00:00Z"), refund("o3", "2026-02-10T00:10:00Z"),
      ], asOf: "2026-02-11", Self.names)
    #expect(reported["renewals_monthly"]?.map { $0["renewals"] } == ["1"])
    #expect(reported["revenue_monthly"]?.map { $0["gross_usd"] } == ["1.99", "9.99"])
    #expect(reported["revenue_monthly"]?.map { $0["refunds_usd"] } == ["0.00", "9.99"])
  }

  @Test("A copy with another id and password is a duplicate")
  func copyUnderOtherID() throws {
    let program = try Program()
    let copy = renewal.replacing("\"n2\"", with: "\"m2\"").replacing("\"p\"", with: "\"q\"")
    let lines = [start, renewal, copy].joined(separator: "\n")
    try program.folder.write(lines + "\n", to: "in/1.jsonl")
    try program.run(["run", "--archives", "in", "--as-of", "2026-02-11"]).ended(0, 1)
    let inputs = try program.rows("inputs.csv", in: "reports")
    #expect(inputs.map { $0["accepted"] } == ["2"] && inputs.map { $0["duplicates"] } == ["1"])
  }

  @Test("An active product stays in its snapshot when an older one is bought again after it")
  func boughtAgain() throws {
    func purchase(
      _ product: String, _ order: String, _ from: String, _ until: String, _ more: String
    )
      -> String
    {
      #""google:\#(product)":{"productId":"google:\#(product)","purchaseId":"google:\#(order)","#
        + #""transactionId":"google:\#(order)","platform":"google","purchaseDate":"\#(from)","#
        + #""lastRenewalDate":"\#(from)","expirationDate":"\#(until)",\#(more)}"#
    }
    func line(_ reason: String, _ date: String, _ order: String, _ purchases: String) -> String {
      #"{"type":"purchases.updated","applicationUsername":"u1","password":"p","notification":"#
        + #"{"reason":"\#(reason)","id":"\#(date)","date":"\#(date)","#
        + #""purchaseId":"google:\#(order)","transactionId":"google:\#(order)"},"#
        + #""purchases":{\#(purchases)}}"#
    }
    let renews = #""isExpired":false,"renewalIntent":"Renew""#
    let ended = #""isExpired":true,"renewalIntent":"Lapse","cancelationReason":"Customer""#
    let week = ("2026-03-06T00:00:00Z", "2026-03-13T00:00:00Z")
    let lapsed = purchase("week", "GPA.1", week.0, week.1, ended)
    let year = purchase("year", "GPA.2", "2026-03-15T00:00:00Z", "2027-03-15T00:00:00Z", renews)
    let again = purchase("week", "GPA.3", "2026-03-17T00:00:00Z", "2026-03-24T00:00:00Z", renews)
    let lines = [
      line("PURCHASED", week.0, "GPA.1", purchase("week", "GPA.1", week.0, week.1, renews)),
      line("EXPIRED", week.1, "GPA.1", lapsed),
      line("PURCHASED", "2026-03-15T00:00:00Z", "GPA.2", lapsed + "," + year),
      line("PURCHASED", "2026-03-17T00:00:00Z", "GPA.3", again + "," + year),
    ]
    let program = try Program()
    try program.folder.write(lines.joined(separator: "\n"), to: "in/a.jsonl")
    try program.folder.write(
      #"{"applicationUsername":"u1","captured_at":"2026-03-16T00:00:00Z","#
        + #""purchases":{\#(lapsed),\#(year)}}"#, to: "snap/a.jsonl")
    try program.run([
      "run", "--archives", "in", "--snapshots", "snap", "--as-of", "2026-03-18",
    ]).ended(0)
    #expect(try program.rows("breaks.csv").map { $0["code"] } == [])
  }

  @Test("Reasons that are delivered after as-of do not change what is covered until then")
  func laterReasons() throws {
    func coverage(_ lines: [String]) throws -> [[String: String]] {
      let program = try Program(reading: lines.joined(separator: "\n"))
      try program.run(["run", "--archives", "in", "--as-of", "2026-01-02"]).ended(0)
      return try program.rows("coverage.csv")
    }
    let state = start.replacing(/"notification":\{[^}]*\},/, with: "")
    let early = #"{"received":"2026-01-01T00:00:05Z","body":\#(state)}"#
    let covered = try coverage([early])
    let pauses = covered.filter { $0["metric"] == "pauses" }.map { $0["coverage"] }
    #expect(try coverage([early, renewal]) == covered && pauses == ["not_available"])
  }
}
