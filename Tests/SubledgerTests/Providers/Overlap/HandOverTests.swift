import TestSupport
import Testing

@Suite("A period that one provider charged and another one continues")
struct HandOverTests {
  private static let original = 2_000_000_900_000_001

  /// iaptic's report of the second user's purchases at `date`.
  private func iaptic(_ reason: String, _ date: String, _ purchases: String...) -> String {
    """
    {"type":"purchases.updated","applicationUsername":"u1","password":"p",\
    "notification":{"reason":"\(reason)","id":"n\(date)","date":"\(date)"},\
    "purchases":{\(purchases.joined(separator: ","))}}
    """
  }

  /// The purchase of `product` as it stands after charge number `charge`.
  private func purchase(
    _ product: String = "com.example.pro.monthly", charge: Int, _ last: String, until end: String,
    _ more: String = #""isExpired":false,"renewalIntent":"Renew""#
  ) -> String {
    """
    "apple:\(product)":{"productId":"apple:\(product)","purchaseId":"apple:\(Self.original)",\
    "transactionId":"apple:\(Self.original + charge)","platform":"apple",\
    "purchaseDate":"2026-02-27T12:00:00Z","lastRenewalDate":"\(last)","expirationDate":"\(end)",\
    "currency":"USD","amountUSD":9.99,\(more)}
    """
  }

  /// Qonversion's event about charge number `charge`.
  private func qonversion(
    _ name: String, _ seconds: Int, charge: Int, until end: Int,
    _ change: (inout Body) -> Void = { _ in }
  ) -> String {
    var body = Body(1, name, at: seconds)
    body.members["transaction"] = Body.transaction(
      Self.original + charge, of: Self.original, from: seconds, until: end)
    change(&body)
    return body.line
  }

  /// Purple's event about charge number `charge`.
  private func purple(_ type: String, _ seconds: Int, charge: Int, trial: Bool = false) -> String {
    """
    {"version":"1.0","type":"SUBSCRIPTION_\(type)","eventTimeMillis":\(seconds)000,\
    "properties":{"packageName":"com.example.app","productId":"com.example.pro.monthly",\
    "transactionId":"\(Self.original + charge)","originalTransactionId":"\(Self.original)",\
    "trialPeriod":"\(trial)","accountId":"u1"}}
    """
  }

  /// FLOBUK's state of charge number `charge`.
  private func flobuk(
    _ seconds: Int, charge: Int, until end: Int, renews: Bool = true, status: Int = 0
  ) -> String {
    """
    {"headers":{"x-app-id":"abcdefghijklmnop"},"body":{"transaction":"\(Self.original + charge)",\
    "data":{"type":"Subscription","status":\(status),"productId":"com.example.pro.monthly",\
    "expiresDate":\(end),"autoRenew":\(renews),"sandbox":false},"store":"AppleAppStore",\
    "user":"u1","timestamp":\(seconds)}}
    """
  }

  /// Noon on the 27th of February, March, April and May.
  private let days = [1_772_193_600, 1_774_612_800, 1_777_291_200, 1_779_883_200]

  private func published(
    _ lines: [String], asOf: String = "2026-05-20", silence: String = "freshness_max: 90d\n"
  ) throws -> Program {
    let program = try Program()
    try program.folder.write(
      silence + "snapshots: {from_webhooks: false}\nperiods: {com.example.pro.monthly: P1M}\n",
      to: "subledger.yaml")
    try program.publishBothWays(lines, asOf: asOf)
    return program
  }

  private func movements(_ program: Program, _ out: String) throws -> [String] {
    let names = [
      "new", "reactivated", "recovered", "churned", "churned_involuntary", "churned_unknown",
    ]
    return try program.rows("churn_monthly.csv", in: out).flatMap { row in
      names.filter { row[$0] != "0" }.map { "\(row["period"] ?? "") \($0)" }
    }
  }

  @Test("An expiry from the feed that stopped leaves the end to the feed that reports the charge")
  func expiredAtStopped() throws {
    let program = try published(
      [
        purple("PURCHASED", days[0], charge: 0), purple("RENEWED", days[1], charge: 1),
        qonversion("subscription_renewed", days[1], charge: 1, until: days[2]),
        purple("EXPIRED", days[2], charge: 1),
      ], asOf: "2026-06-20", silence: "freshness_max: {qonversion: 900d, purple: 1d}\n")
    for out in ["one/out", "many/out"] {
      #expect(try movements(program, out).contains("2026-04 churned"))
    }
  }

  @Test("A failed payment or refund that another provider reports is no missing renewal")
  func failedElsewhere() throws {
    let (paid, due) = ("2026-03-27T12:00:00Z", "2026-04-27T12:00:00Z")
    let failing = #""isExpired":false,"renewalIntent":"Renew","isBillingRetryPeriod":true"#
    let other = qonversion("subscription_started", days[3], charge: 70, until: 1_782_561_600) {
      $0.members["user_id"] = "\"QON_2\""
      $0.members["transaction"] = Body.transaction(
        Self.original + 70, from: days[3], until: 1_782_561_600)
    }
    let refunded = #""isExpired":true,"cancelationReason":"Customer""#
    for report in [
      iaptic("ENTERED_GRACE_PERIOD", due, purchase(charge: 1, paid, until: due, failing)),
      iaptic("REFUNDED", "2026-04-02T12:00:00Z", purchase(charge: 1, paid, until: due, refunded)),
    ] {
      let program = try published(
        [
          Body().line,
          qonversion("subscription_renewed", days[1], charge: 1, until: days[2]), other, report,
        ], asOf: "2026-05-30", silence: "freshness_max: 90d\nauthority: [iaptic]\n")
      for out in ["one/out", "many/out"] {
        let codes = try program.rows("breaks.csv", in: out).map { $0["code"] }
        #expect(!codes.contains("MISSED_RENEWAL"), "\(codes)")
      }
    }
  }

  @Test(
    "A failed payment that only the other provider reports counts, after a move and beside it",
    arguments: [false, true])
  func recovered(isLive: Bool) throws {
    let (start, due, paid) = (
      "2026-02-27T12:00:00Z", "2026-03-27T12:00:00Z", "2026-04-06T12:00:00Z"
    )
    let failing = #""isExpired":false,"renewalIntent":"Renew","isBillingRetryPeriod":true"#
    let renewed = qonversion(
      "subscription_renewed", 1_775_476_800, charge: 1, until: 1_778_068_800)
    let program = try published(
      (isLive ? [renewed] : []) + [
        Body().line,
        iaptic("RECEIPT_REFRESHED", due, purchase(charge: 0, start, until: due, failing)),
        iaptic("RENEWED", paid, purchase(charge: 1, paid, until: "2026-05-06T12:00:00Z")),
        iaptic(
          "EXPIRED", "2026-05-06T12:00:00Z",
          purchase(
            charge: 1, paid, until: "2026-05-06T12:00:00Z",
            #""isExpired":true,"cancelationReason":"System.BillingError""#)),
      ])
    for out in ["one/out", "many/out"] {
      #expect(
        try movements(program, out) == [
          "2026-02 new", "2026-03 churned", "2026-03 churned_involuntary", "2026-04 recovered",
          "2026-05 churned", "2026-05 churned_involuntary",
        ])
      #expect(try program.rows("breaks.csv", in: out).isEmpty)
    }
    let answer = try program.run([
      "explain", "--subscription", "\(Self.original)", "--ledger", "one/l", "--format", "csv",
    ])
    for step in ["revenue_monthly charges", "paid period of"] {
      #expect(answer.output.ranges(of: step).count == 2, "\(answer)")
    }
  }

  @Test("An end that the new provider reports counts although the previous feed is stale")
  func staleFeed() throws {
    let (start, due) = ("2026-02-27T12:00:00Z", "2026-03-27T12:00:00Z")
    let ended = #""isExpired":true,"cancelationReason":"System.BillingError""#
    let lines = [
      Body().line, iaptic("EXPIRED", due, purchase(charge: 0, start, until: due, ended)),
    ]
    let program = try published(lines, asOf: "2026-04-05", silence: "freshness_max: 20d\n")
    for out in ["one/out", "many/out"] {
      #expect(
        try movements(program, out) == [
          "2026-02 new", "2026-03 churned", "2026-03 churned_involuntary",
        ])
      let codes = try program.rows("breaks.csv", in: out).compactMap { $0["code"] }
      #expect(codes == ["STALE_INPUT"])
    }
  }

  @Test("What the second of three providers reports counts before the third one begins")
  func three() throws {
    let charge = purchase(charge: 0, "2026-02-27T12:00:00Z", until: "2026-03-27T12:00:00Z")
    let program = try published([
      iaptic("PURCHASED", "2026-02-27T12:00:00Z", charge),
      qonversion("subscription_renewed", days[2], charge: 2, until: days[3]),
      purple("CANCELLED", days[0] + 864_000, charge: 0), purple("EXPIRED", days[1], charge: 0),
    ])
    #expect(
      try program.rows("churn_monthly.csv", in: "one/out").map { $0["churned_voluntary"] }
        .contains("1"))
  }

  @Test("Access goes on while Purple reports a failed payment of another provider's charge")
  func openGrace() throws {
    let failed = purple("RENEWAL_FAILED", days[1], charge: 0)
    let recovered = purple("RECOVERED", days[1] + 300_000, charge: 1)
    #expect(
      try charges([Body().line, failed, recovered])
        == ["2026-02 qonversion first", "2026-03 purple renewal"])
  }

  @Test("A snapshot of the previous provider after a move agrees with the new one's events")
  func snapshotAfterMove() throws {
    func listed(_ charge: Int, _ type: String) -> String {
      #"{"transaction_id":"\#(Self.original + charge)","original_transaction_id":"#
        + #""\#(Self.original)","type":"\#(type)","transaction_at":\#(days[charge]),"#
        + #""expires_at":\#(days[charge + 1])}"#
    }
    let program = try Program()
    try program.folder.write("freshness_max: 90d\n", to: "subledger.yaml")
    let renewed = iaptic(
      "RENEWED", "2026-03-27T12:00:00Z",
      purchase(charge: 1, "2026-03-27T12:00:00Z", until: "2026-04-27T12:00:00Z"))
    try program.folder.write("\(Body().line)\n\(renewed)\n", to: "in/a.jsonl")
    try program.folder.write(
      #"{"provider":"qonversion","user_id":"QON_1","captured_at":\#(days[1] + 864_000),"#
        + #""entitlements":[{"id":"pro","product_id":"com.example.pro.monthly","active":true,"#
        + #""expires_at":\#(days[2]),"source":"app_store","transactions":["#
        + listed(0, "subscription_started") + "," + listed(1, "subscription_renewed") + "]}]}\n",
      to: "snapshots/q.jsonl")
    try program.run([
      "run", "--archives", "in", "--snapshots", "snapshots", "--as-of", "2026-04-15",
    ]).ended(0)
    #expect(try program.rows("breaks.csv").isEmpty)
  }

  private func charges(_ lines: [String]) throws -> [String] {
    let program = try published(lines)
    let found = try ["one/out", "many/out"].map { out in
      try program.rows("revenue_monthly.csv", in: out).filter { $0["charges"] == "1" }
        .map { "\($0["period"] ?? "") \($0["provider"] ?? "") \($0["charge_kind"] ?? "")" }
    }
    #expect(found[0] == found[1])
    let ends = try movements(program, "one/out").filter { $0.contains("churned ") }
    #expect(ends.isEmpty)
    return found[0].sorted()
  }

  @Test("A charge from FLOBUK's states that continues Purple's periods is a renewal on its day")
  func toStates() throws {
    let purple = [
      purple("PURCHASED", days[0], charge: 0), purple("RENEWED", days[1], charge: 1),
    ]
    #expect(
      try charges(purple + (1...2).map { flobuk(days[$0], charge: $0, until: days[$0 + 1]) })
        == ["2026-02 purple first", "2026-03 flobuk renewal", "2026-04 flobuk renewal"])
    // A cancel in April is the first state of the charge of March.
    let canceled = flobuk(days[1] + 864_000, charge: 1, until: days[2], renews: false)
    #expect(
      try charges(purple + [canceled]) == ["2026-02 purple first", "2026-03 flobuk renewal"])
  }

  @Test("The first charge that Purple reports after another provider's conversion is a renewal")
  func converted() throws {
    let begun = days[0] - 604_800
    let lines = [
      qonversion("trial_started", begun, charge: 0, until: days[0]) {
        $0.members["revenue"] = nil
      },
      qonversion("trial_converted", days[0], charge: 1, until: days[1]),
      purple("PURCHASED", begun, charge: 0, trial: true), purple("RENEWED", days[1], charge: 2),
    ]
    #expect(
      try charges(lines) == ["2026-02 qonversion conversion", "2026-03 purple renewal"])
  }

  @Test("A change of product that only the previous provider reported is no missing renewal")
  func upgraded() throws {
    let upgraded = qonversion(
      "subscription_upgraded", 1_774_267_200, charge: 1, until: 1_776_945_600
    ) {
      $0.members["product_id"] = "\"com.example.pro.plus\""
      $0.members["old_product_id"] = "\"com.example.pro.monthly\""
      $0.members["new_product_id"] = "\"com.example.pro.plus\""
    }
    let replaced = purchase(
      charge: 0, "2026-02-27T12:00:00Z", until: "2026-03-27T12:00:00Z",
      #""isExpired":true,"renewalIntent":"Lapse","cancelationReason":"System.Replaced""#)
    let plus = purchase(
      "com.example.pro.plus", charge: 2, "2026-04-23T12:00:00Z", until: "2026-05-23T12:00:00Z")
    let program = try published([
      Body().line, upgraded, iaptic("RENEWED", "2026-04-23T12:00:42Z", plus, replaced),
    ])
    for out in ["one/out", "many/out"] {
      #expect(try program.rows("breaks.csv", in: out).isEmpty)
      let charges = try program.rows("revenue_monthly.csv", in: out)
      #expect(charges.map { $0["charges"] } == ["1", "1", "1"])
    }
  }
}
