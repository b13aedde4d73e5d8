import TestSupport
import Testing

@Suite("Refunds of one purchase reported by several providers")
struct OverlapRefundTests {
  private let charge = """
    {"type":"purchases.updated","applicationUsername":"u1","password":"p",\
    "notification":{"reason":"PURCHASED","id":"n1","date":"2026-02-27T12:00:00Z",\
    "productId":"apple:com.example.pro.monthly","purchaseId":"apple:2000000900000001",\
    "transactionId":"apple:2000000900000001"},"purchases":{"apple:com.example.pro.monthly":{\
    "productId":"apple:com.example.pro.monthly","purchaseId":"apple:2000000900000001",\
    "transactionId":"apple:2000000900000001","platform":"apple",\
    "purchaseDate":"2026-02-27T12:00:00Z","lastRenewalDate":"2026-02-27T12:00:00Z",\
    "expirationDate":"2026-03-27T12:00:00Z","isExpired":false,"renewalIntent":"Renew",\
    "currency":"USD","amountUSD":9.99}}}
    """

  /// A partial refund of the charge some days later, as Qonversion reports it.
  private func refund(of part: String, after days: Int) -> String {
    var body = Body(1, "subscription_refunded", at: 1_772_193_600 + days * 86_400)
    body.members["revenue"] = Body.money("-\(part)", rate: 70)
    return body.line
  }

  /// The published reports of the charge and two partial refunds, with iaptic as the authority.
  private func published(_ parts: String..., beside own: [String] = []) throws -> Program {
    let program = try Program()
    try program.folder.write("authority: [iaptic]\nfreshness_max: 60d\n", to: "subledger.yaml")
    let refunds = parts.enumerated().map { refund(of: $1, after: 2 + 7 * $0) }
    try program.publishBothWays([charge] + own + refunds, asOf: "2026-03-15")
    return program
  }

  @Test("Each part that only another provider refunds is booked")
  func parts() throws {
    let program = try published("2.50", "3.00")
    for out in ["one/out", "many/out"] {
      let rows = try program.rows("revenue_monthly.csv", in: out)
      #expect(rows.allSatisfy { $0["provider"] == "iaptic" })
      #expect(rows.map { $0["refunds_usd"] } == ["0.00", "5.50"])
      #expect(try program.rows("excluded_monthly.csv", in: out).isEmpty)
    }
  }

  @Test("A refund of the other one's whole charge gives back the counted amount")
  func whole() throws {
    var charged = Body()
    charged.members["revenue"] = Body.money("9.50", rate: 70)
    let program = try published("9.50", beside: [charged.line])
    for out in ["one/out", "many/out"] {
      let rows = try program.rows("revenue_monthly.csv", in: out)
      #expect(rows.map { $0["refunds_usd"] } == ["0.00", "9.99"])
      let churn = try program.rows("churn_monthly.csv", in: out)
      #expect(churn.map { $0["churned_refund"] } == ["0", "1"])
    }
  }

  @Test("Parts beyond the charge are held, and a break")
  func beyond() throws {
    let program = try published("2.50", "9.00")
    for out in ["one/out", "many/out"] {
      let refunds = try program.rows("revenue_monthly.csv", in: out).map { $0["refunds_usd"] }
      #expect(refunds == ["0.00", "9.99"])
      let excluded = try program.rows("excluded_monthly.csv", in: out)
      #expect(excluded.map { $0["reason"] } == ["over_refund"])
      let found = try program.rows("breaks.csv", in: out).filter { $0["code"] == "OVER_REFUND" }
      #expect(found.map { $0["provider"] } == ["qonversion"])
      #expect(found.map { $0["estimated_usd"] } == ["1.51"])
    }
  }
}
