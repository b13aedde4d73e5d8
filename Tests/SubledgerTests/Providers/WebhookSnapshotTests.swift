import Foundation
import TestSupport
import Testing

/// A webhook of user Ada, who pays 10 dollars every 30 days from 1 January 2026.
///
/// Times are in hours since then.
private struct Webhook {
  var name: String
  var at: Int
  var transaction = 1001
  var original = 1001
  var until: Int?
  var price: String?
  var product = "com.example.pro"
  var shown: [String] = []
  var madeAfter = 0
  var more = ""

  static let period = 30 * 24
  static let year2026 = 1_767_225_600

  var line: String {
    func time(_ hours: Int) -> Int { Self.year2026 + hours * 3600 }
    let end = until.map { "\(time($0))" } ?? "null"
    let revenue = price.map { "\"revenue\":\(Body.money($0, rate: 70))," } ?? ""
    let entitlements = shown.enumerated().map { "\"\($0)\":\($1)" }.joined(separator: ",")
    return #"{"event_name":"\#(name)","user_id":"Ada","time":\#(time(at)),"#
      + #""created_at":\#(time(at) + madeAfter),"product_id":"\#(product)",\#(revenue)"#
      + #""transaction":{"transaction_id":\#(transaction),"original_transaction_id":\#(original),"#
      + #""expires":\#(end),"transaction_date":\#(time(at))},"environment":"production","#
      + #""platform":"iOS","app_id":"1234567890",\#(more)"entitlements":{\#(entitlements)}}"#
  }

  /// The start, or the renewal with this number.
  static func charge(_ number: Int, shown: [String]? = nil) -> Webhook {
    let (start, end) = (number * period, (number + 1) * period)
    return Webhook(
      name: number == 0 ? "subscription_started" : "subscription_renewed", at: start,
      transaction: 1001 + number, until: end, price: "10.00", shown: shown ?? [access(until: end)])
  }

  /// A purchase of coins by Ada, with her entitlements at that time.
  static func coins(at hour: Int, _ shown: [String], transaction: Int = 2001) -> Webhook {
    Webhook(
      name: "in_app_purchase", at: hour, transaction: transaction, original: transaction,
      price: "1.99", product: "com.example.coins", shown: shown)
  }

  /// An entitlement in the format of REST v3.
  static func access(
    _ id: String = "premium", product: String = "pro", from start: Int = 0, until end: Int,
    isActive: Bool = true
  ) -> String {
    #"{"id":"\#(id)","active":\#(isActive),"started":\#(year2026 + start * 3600),"#
      + #""expires":\#(year2026 + end * 3600),"source":"appstore","product":"#
      + #"{"product_id":"\#(product)","subscription":{"renew_state":"will_renew","#
      + #""current_period_type":"normal"}}}"#
  }
}

@Suite("Entitlements in a webhook show what its user has")
struct WebhookSnapshotTests {
  let program: Program

  init() throws { program = try Program() }

  /// The input when the second renewal, of 2 March, is lost and Ada buys coins two days later.
  private let lost = [
    Webhook.charge(0), .charge(1), .coins(at: 62 * 24, [Webhook.access(until: 90 * 24)]),
  ]

  private func arrives(_ webhooks: [Webhook], _ name: String = "a.jsonl") throws {
    try program.folder.write(webhooks.map { $0.line + "\n" }.joined(), to: "in/\(name)")
  }

  /// Code and status of each break except stale input.
  private func breaks(_ asOf: String, _ more: [String] = [], out: String = "reports") throws
    -> [String]
  {
    try program.run(
      ["run", "--archives", "in", "--as-of", asOf, "--out", out, "--ledger", "\(out).sqlite"]
        + more
    ).ended(0, 1)
    return try program.rows("breaks.csv", in: out).compactMap { row in
      row["code"] == "STALE_INPUT" ? nil : "\(row["code"] ?? "") \(row["status"] ?? "")"
    }
  }

  /// Whether the first break is proven only by its subscription's silence.
  private func isByCalendar(in out: String = "reports") throws -> Bool {
    try program.rows("breaks.csv", in: out).first?["evidence"]?.hasPrefix("auto-renew was on")
      ?? false
  }

  private func unmatched(in out: String = "reports") throws -> Int? {
    let path = program.folder.path("\(out)/datapackage.json")
    let manifest = try JSONSerialization.jsonObject(
      with: Data(contentsOf: URL(fileURLWithPath: path)))
    let own = (manifest as? [String: Any])?["subledger"] as? [String: Any]
    return (own?["counts"] as? [String: Any])?["unmatched_entitlements"] as? Int
  }

  @Test("A coin purchase's webhook shows the lost renewal, its price and its position")
  func lostRenewal() throws {
    try arrives(lost)
    #expect(try breaks("2026-03-06") == ["MISSED_RENEWAL open"])
    let row = try #require(try program.rows("breaks.csv").first)
    #expect(row["estimated_usd"] == "10.00")
    #expect(row["expected_at"] == "2026-03-02T00:00:00Z")
    #expect(row["subscription_id"] == "1001")
    #expect(
      row["evidence"]
        == "events show the subscription until 2026-03-02T00:00:00Z; the entitlements in the "
        + "webhook of 2026-03-04T00:00:00Z show active until 2026-04-01T00:00:00Z, will renew")
    let id = try #require(row["break_id"])
    let explained = try program.run(["explain", "--break", id, "--ledger", "reports.sqlite"])
    #expect(
      explained.output.contains(
        #/entitlements in the webhook of 2026-03-04T00:00:00Z\n.*\n +a.jsonl line 3 /#),
      "\(explained)")
    try program.run(["verify", "--ledger", "reports.sqlite", "--archives", "in"]).ended(0)
  }

  @Test("A webhook created after as-of supplies its entitlements in a later run without new data")
  func madeLater() throws {
    var coins = Webhook.coins(at: 60 * 24 + 1, [Webhook.access(until: 90 * 24)])
    coins.madeAfter = 7_200
    try arrives([.charge(0), .charge(1), coins])
    let others = (0..<40).map { Webhook.coins(at: 36 * $0, [], transaction: 3000 + $0).line }
    try program.folder.write(
      others.joined(separator: "\n").replacing("Ada", with: "Bob"), to: "in/others.jsonl")
    #expect(try breaks("2026-03-02T02:00:00Z") == [])
    #expect(try breaks("2026-03-02T03:00:00Z") == ["MISSED_RENEWAL pending"])
  }

  @Test("Order, split and repetition of the archives do not change the break")
  func anyOrder() throws {
    try arrives(lost)
    #expect(try breaks("2026-03-06", out: "once") == ["MISSED_RENEWAL open"])
    try arrives([lost[2]], "1.jsonl")
    try arrives([lost[1], lost[2]], "2.jsonl")
    try arrives([lost[0]], "3.jsonl")
    try FileManager.default.removeItem(atPath: program.folder.path("in/a.jsonl"))
    #expect(try breaks("2026-03-06", out: "split") == ["MISSED_RENEWAL open"])
    let nights: [(String, Webhook)] = [("7", lost[2]), ("8", lost[0]), ("9", lost[1])]
    for (name, webhook) in nights {
      try arrives([webhook], "\(name).jsonl")
      _ = try breaks("2026-03-06", ["--archives", "in/\(name).jsonl"], out: "nights")
    }
    let rows = try ["once", "split", "nights"].map { try program.rows("breaks.csv", in: $0) }
    #expect(rows[0] == rows[1])
    #expect(rows[0] == rows[2])
  }

  @Test("With snapshots.from_webhooks: false, only the calendar finds the loss")
  func off() throws {
    try program.folder.write("snapshots: {from_webhooks: false}\n", to: "subledger.yaml")
    try arrives(lost)
    #expect(try breaks("2026-03-06") == ["MISSED_RENEWAL open"])
    #expect(try isByCalendar())
  }

  @Test("The break is pending while its event can arrive, and resolved when it does")
  func comesLater() throws {
    try arrives([.charge(0), .charge(1), .coins(at: 60 * 24, [Webhook.access(until: 90 * 24)])])
    #expect(try breaks("2026-03-02T06:00:00Z") == ["MISSED_RENEWAL pending"])
    try arrives([.charge(2)], "b.jsonl")
    #expect(try breaks("2026-03-02T12:00:00Z") == ["MISSED_RENEWAL resolved"])
  }

  @Test("A webhook of the same second, before or after its charge, shows nothing missing")
  func sameSecond() throws {
    let end = 90 * 24
    for hour in [60 * 24 - 1, 60 * 24, 60 * 24 + 1] {
      let coins = Webhook.coins(at: hour, [Webhook.access(until: end)])
      try arrives([.charge(0), .charge(1), .charge(2), coins])
      #expect(try breaks("2026-03-20", out: "r\(hour)") == [], "hour \(hour)")
    }
  }

  @Test("A repeated delivery may show the state of its own time instead of its creation")
  func retry() throws {
    var repeated = Webhook.coins(at: 59 * 24 + 20, [Webhook.access(until: 90 * 24)])
    repeated.more = #""timestamp":"2026-03-02T04:00:00Z","#
    try arrives([.charge(0), .charge(1), repeated, .charge(2)])
    #expect(try breaks("2026-03-20") == [])
  }

  @Test("The webhook of a change may show the previous state")
  func stateBefore() throws {
    var refund = Webhook.charge(2, shown: [Webhook.access(until: 90 * 24)])
    refund.name = "subscription_refunded"
    (refund.at, refund.until) = (70 * 24, 70 * 24)
    try arrives([
      .charge(0, shown: []), .charge(1, shown: [Webhook.access(until: 30 * 24)]),
      .charge(2, shown: [Webhook.access(until: 60 * 24)]), refund,
      .coins(at: 70 * 24 + 1, [Webhook.access(until: 90 * 24)]),
    ])
    #expect(try breaks("2026-03-20") == [])
  }

  @Test("No entitlements, or ended ones, prove nothing against an active subscription")
  func lessThanEvents() throws {
    let over = Webhook.access(until: 40 * 24, isActive: false)
    try arrives([.charge(0), .charge(1), .coins(at: 45 * 24, [])])
    try arrives([.coins(at: 46 * 24, [over], transaction: 2002)], "b.jsonl")
    #expect(try breaks("2026-02-20") == [])
  }

  @Test("If several subscriptions fit, only a mapped product identifies one; else it is counted")
  func unmapped() throws {
    var other = Webhook.charge(0, shown: [])
    (other.transaction, other.original, other.product) = (5001, 5001, "com.example.news")
    other.until = 300 * 24
    let shown = [
      Webhook.access(until: 90 * 24), Webhook.access("news", product: "news", until: 300 * 24),
    ]
    try arrives([.charge(0), .charge(1), other, .coins(at: 62 * 24, shown)])
    // The calendar finds the renewal missing, too.
    #expect(try breaks("2026-03-06") == ["MISSED_RENEWAL open"])
    #expect(try isByCalendar())
    #expect(try unmatched() == 1)
    try program.folder.write(
      "products: {pro: com.example.pro, news: com.example.news}\n", to: "subledger.yaml")
    #expect(try breaks("2026-03-06", out: "mapped") == ["MISSED_RENEWAL open"])
    #expect(try program.rows("breaks.csv", in: "mapped").first?["estimated_usd"] == "10.00")
    #expect(try unmatched(in: "mapped") == 0)
  }

  @Test("A mapped product without an event of the user is a missing start")
  func unseenStart() throws {
    let shown = [Webhook.access(until: 30 * 24)]
    try arrives([.coins(at: -24, [], transaction: 2000), .coins(at: 28, shown)])
    #expect(try breaks("2026-01-05") == [])
    #expect(try unmatched() == 1)
    try program.folder.write("products: {pro: com.example.pro}\n", to: "subledger.yaml")
    #expect(try breaks("2026-01-05", out: "mapped") == ["MISSED_START open"])
  }

  @Test("An older snapshot with transactions and a newer webhook each prove what they contain")
  func besideSnapshot() throws {
    try arrives(lost)
    try program.folder.write(
      #"{"user_id":"Ada","captured_at":"2026-02-10T00:00:00Z","entitlements":[{"id":"coins","#
        + #""active":0,"source":"appstore","store_transactions":[{"transaction_id":"2009","#
        + #""original_transaction_id":"2009","transaction_timestamp":1770076800,"#
        + #""type":"nonconsumable_purchase","environment":"production"}]}]}"#, to: "snap/a.jsonl")
    let snapshots = ["--snapshots", "snap"]
    let both = try breaks("2026-03-06", snapshots).sorted()
    #expect(
      both.filter { $0.hasPrefix("MISSED") } == ["MISSED_PURCHASE open", "MISSED_RENEWAL open"])
    try program.folder.write("snapshots: {from_webhooks: false}\n", to: "subledger.yaml")
    let listed = try breaks("2026-03-06", snapshots, out: "off")
    #expect(listed.filter { $0.hasPrefix("MISSED") } == ["MISSED_PURCHASE open"])
  }

  @Test("A webhook does not complete a set of snapshots")
  func completeSet() throws {
    try program.folder.write("snapshots: {complete: true}\n", to: "subledger.yaml")
    try arrives([.charge(0), .charge(1), .coins(at: 45 * 24, [Webhook.access(until: 60 * 24)])])
    try program.folder.write(
      #"{"user_id":"Bob","captured_at":"2026-02-16T00:00:00Z","entitlements":[]}"#,
      to: "snap/a.jsonl")
    #expect(try breaks("2026-02-20", ["--snapshots", "snap"]) == ["SNAPSHOT_ABSENT open"])
  }

  @Test("If an event is duplicated, the entitlements of the latest created version count")
  func versions() throws {
    let early = Webhook.coins(at: 62 * 24, [Webhook.access(until: 90 * 24)])
    var late = Webhook.coins(at: 62 * 24, [])
    late.madeAfter = 60
    try arrives([.charge(0), .charge(1), early], "1.jsonl")
    try arrives([late], "2.jsonl")
    _ = try breaks("2026-03-06")
    #expect(try isByCalendar())
    try arrives([late], "1.jsonl")
    try arrives([.charge(0), .charge(1), early], "2.jsonl")
    _ = try breaks("2026-03-06", out: "turned")
    #expect(try isByCalendar(in: "turned"))
  }

  @Test("An erased person's entitlements are kept without the person")
  func erased() throws {
    try arrives(lost)
    _ = try breaks("2026-03-06")
    try program.run(["erase", "Ada", "--ledger", "reports.sqlite", "--reason", "asked"]).ended(0)
    let result = try program.run(
      ["report", "--as-of", "2026-03-06", "--ledger", "reports.sqlite", "--out", "reports"])
    #expect([0, 1].contains(result.status), "\(result)")
    let rows = try program.rows("breaks.csv")
    #expect(rows.map { $0["estimated_usd"] } == ["10.00"])
    #expect(rows[0]["user_id"]?.hasPrefix("erased-") == true)
  }
}
