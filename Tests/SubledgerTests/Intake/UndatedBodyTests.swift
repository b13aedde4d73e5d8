import TestSupport
import Testing

@Suite("A body of iaptic's first years, which has no date, beside a snapshot")
struct UndatedBodyTests {
  private func purchases(until end: String, isExpired: Bool = false, fails: Bool = false) -> String
  {
    """
    {"apple:pro":{"productId":"apple:pro","purchaseId":"apple:101","platform":"apple",\
    "purchaseDate":"2026-01-01T00:00:00Z","expirationDate":"2026-\(end)T00:00:00Z",\
    "isExpired":\(isExpired),"renewalIntent":"Renew","isBillingRetryPeriod":\(fails)}}
    """
  }

  private func line(_ received: String, _ purchases: String) -> String {
    """
    {"receivedAt":"2026-\(received)Z","body":{"type":"purchases.updated","password":"p",\
    "applicationUsername":"u1","purchases":\(purchases)}}

    """
  }

  @Test("Shows nothing of the time before it was received", arguments: [true, false])
  func receivedLater(isOneRun: Bool) throws {
    let program = try Program()
    try program.folder.write("freshness_max: 60d\n", to: "subledger.yaml")
    let over = purchases(until: "02-01", isExpired: true)
    try program.folder.write(
      #"{"applicationUsername":"u1","captured_at":"2026-02-01T06:00:00Z","purchases":\#(over)}"#,
      to: "snap/a.jsonl")
    let nights = [
      line("01-01T00:00:05", purchases(until: "02-01")),
      line("02-01T08:00:00", purchases(until: "02-17", fails: true)),
    ]
    for (number, lines) in nights.enumerated() {
      try program.folder.write(lines, to: "in/\(number).jsonl")
      if isOneRun, number == 0 { continue }
      let result = try program.run(
        ["run", "--archives", "in", "--snapshots", "snap", "--as-of", "2026-02-0\(number + 5)"])
      #expect(result.status == 0, "\(result)")
    }
    #expect(try program.rows("breaks.csv").map { $0["code"] } == [])
    let churn = try program.rows("churn_monthly.csv")
    #expect(churn.map { $0["active_close"] } == ["1", "1"])
  }
}
