import Foundation
import EventStore
import TestSupport
import Testing
import Domain

@testable import Reports

@Suite("Breaks, their history, and the worklist")
struct BreakReportTests {
  let world: World

  init() throws {
    world = try World()
    for id in ["user", "both", "sooner", "later", "gone", "undated", "none"] {
      try world.ledger.rows(
        sql: "insert into user (key, id) values (?, ?)",
        arguments: [.integer(Fingerprint.of(id)), .text(id)]
      ) { _ in }
    }
  }

  @Test("Breaks include pending, open and reopened ones, and those that this as-of resolved")
  func breaks() throws {
    let shown = ["open", "reopened", "pending", "resolved"].map { "\($0)-id" }
    try record(5, sees: [found("reopened-id"), found("resolved-id"), found("gone-id")])
    try record(6, sees: [found("resolved-id")])
    var pending = found("pending-id", expected: day(2026, 4, 1))
    pending.status = .pending
    try record(
      10, sees: [found("open-id"), found("reopened-id", expected: nil), pending, found("said-id")])
    try world.ledger.replaceDecisions([
      Decision(breakID: "said-id", verdict: .explained, reason: "known", who: "me")
    ])
    try world.write(run: run)
    let rows = try world.rows("breaks.csv")
    #expect(rows.map { $0["break_id"] } == shown.sorted())
    #expect(rows.map { "\($0["status"] ?? "")-id" } == shown.sorted())
    #expect(rows.map { $0["age_days"] } == ["3", "0", "", "3"])
    #expect(
      rows.map { $0["first_seen_at"]?.prefix(10) }
        == ["2026-03-10", "2026-03-10", "2026-03-05", "2026-03-05"])
    #expect(rows.map { $0["last_seen_at"]?.prefix(10).suffix(2) } == ["10", "10", "10", "06"])
    expect(
      rows[0], "code=MISSED_RENEWAL", "provider=qonversion", "environment=production",
      "store=app_store", "expected_at=2026-03-07T00:00:00Z", "estimated_usd=9.99")
  }

  @Test("In a run as of an earlier time, breaks and their counts are as of then; not the history")
  func lookingBack() throws {
    try record(5, sees: [found("a")])
    try record(6, sees: [])
    try record(10, sees: [found("a")])
    try record(4, sees: [found("a")])
    try world.write(run: run)
    #expect(try world.rows("breaks.csv").map { $0["status"] } == ["open"])
    #expect(try world.rows("breaks_history.csv").map { $0["status"] } == ["resolved", "reopened"])
    #expect(try world.ledger.breakCounts().map(\.status) == ["open"])
  }

  @Test("The history keeps every episode and its decision")
  func history() throws {
    try record(5, sees: [found("a"), found("b")])
    try record(6, sees: [found("b")])
    try record(10, sees: [found("a"), found("b")])
    try world.ledger.replaceDecisions([
      Decision(breakID: "b", verdict: .writtenOff, reason: "=\"far\" too old", who: "@me")
    ])
    try world.write(run: run)
    #expect(
      try world.text("breaks_history.csv")
        == """
        break_id,episode,code,status,severity,provider,app_id,environment,store,user_id,\
        subscription_id,transaction_id,product_id,expected_at,first_seen_at,last_seen_at,\
        resolved_at,resolved_by_run,missing_events,estimated_usd,amount_basis,decision,reason,who
        a,1,MISSED_RENEWAL,resolved,high,qonversion,app,production,app_store,user,42,43,monthly,\
        2026-03-07T00:00:00Z,2026-03-05T00:00:00Z,2026-03-05T00:00:00Z,2026-03-06T00:00:00Z,2,1,\
        9.99,provider,,,
        a,2,MISSED_RENEWAL,reopened,high,qonversion,app,production,app_store,user,42,43,monthly,\
        2026-03-07T00:00:00Z,2026-03-10T00:00:00Z,2026-03-10T00:00:00Z,,,1,9.99,provider,,,
        b,1,MISSED_RENEWAL,written_off,high,qonversion,app,production,app_store,user,42,43,\
        monthly,2026-03-07T00:00:00Z,2026-03-05T00:00:00Z,2026-03-10T00:00:00Z,,,1,9.99,provider,\
        written_off,"'=""far"" too old",'@me

        """)
  }

  @Test("A break that only arrived late is resolved by the run that first saw it, in every run")
  func late() throws {
    var late = found("a")
    (late.code, late.status, late.missingEvents) = (.late, .resolved, 0)
    for number in [5, 10] {
      try record(number, sees: [late])
      try world.write(run: run)
      #expect(try world.rows("breaks.csv").map { $0["status"] } == ["resolved"])
      #expect(try world.rows("breaks.csv").map { $0["action"] } == ["ask"])
    }
    let history = try world.rows("breaks_history.csv")
    #expect(history.map { $0["status"] } == ["resolved"])
    #expect(history.map { $0["resolved_at"] } == ["2026-03-05T00:00:00Z"])
    #expect(history.map { $0["resolved_by_run"] } == ["1"])
    #expect(history.map { $0["last_seen_at"] } == ["2026-03-10T00:00:00Z"])
  }

  @Test("A look shows the breaks of then, and does not change the history")
  func lookBack() throws {
    try record(5, sees: [found("a"), found("b")])
    try world.write(run: run)
    let then = try world.text("breaks.csv")
    try record(10, sees: [found("b"), found("c")])
    try world.write(run: run)
    let (now, history) = (try world.text("breaks.csv"), try world.text("breaks_history.csv"))
    try record(5, sees: [found("a"), found("b")])
    try world.write(run: run)
    #expect(try world.text("breaks.csv") == then)
    #expect(try world.text("breaks_history.csv") == history)
    try record(10, sees: [found("b"), found("c")])
    try world.write(run: run)
    #expect(try world.text("breaks.csv") == now)
    #expect(try world.text("breaks_history.csv") == history)
  }

  @Test("Quality counts a break in the month of its missing event")
  func quality() throws {
    var pending = found("c", expected: day(2026, 2, 2))
    pending.status = .pending
    var sandbox = found("e", expected: day(2026, 1, 2))
    sandbox.environment = .sandbox
    sandbox.product = "yearly"
    let last = Instant(milliseconds: day(2026, 3, 1).milliseconds - 1)
    try record(8, sees: [found("g", expected: day(2026, 2, 5))])
    try record(9, sees: [])
    try record(
      10,
      sees: [
        found("a", expected: day(2026, 2, 1)), found("b", expected: last), pending, sandbox,
        found("d", expected: day(2026, 1, 2), estimate: nil), found("f", expected: nil),
        found("g", expected: day(2026, 2, 5)), found("h", expected: day(2026, 2, 6)),
      ])
    try world.ledger.replaceDecisions([
      Decision(breakID: "h", verdict: .writtenOff, reason: "small", who: "me")
    ])
    try world.write(run: run)
    #expect(
      try world.text("quality_monthly.csv")
        == """
        period,provider,app_id,store,product_id,open_breaks,missing_events,missing_usd,\
        churned_in_doubt
        2026-01,qonversion,app,app_store,monthly,1,1,,0
        2026-01,qonversion,app,app_store,yearly,1,1,0.00,0
        2026-02,qonversion,app,app_store,monthly,3,3,29.97,0
        2026-03,qonversion,app,app_store,monthly,1,1,9.99,0

        """)
  }

  @Test("The worklist starts with evidence deleted soonest, then lasting, then deleted evidence")
  func worklist() throws {
    func of(_ id: String, _ user: String, _ usd: Int64?, expires: Int64? = nil) -> Break {
      var item = found(id, estimate: usd)
      (item.user, item.subscription) = (Fingerprint.of(user).userKeyText, "sub-\(user)")
      item.evidenceExpiresAt = expires.map { day(2026, 3, 10) + .hours($0) }
      return item
    }
    var state = of("08", "both", nil)
    state.code = .expiryMismatch
    state.missingEvents = 0
    var conflict = of("09", "read", 900_000_000)
    conflict.code = .conflict
    var pending = of("10", "waits", 900_000_000)
    pending.status = .pending
    try record(
      10,
      sees: [
        of("01", "gone", 5_000_000, expires: -1), of("02", "later", 5_000_000, expires: 40),
        of("03", "sooner", 5_000_000, expires: 9), of("04", "none", nil),
        of("05", "both", -6_000_000, expires: 9), of("06", "both", 7_000_000, expires: -9),
        of("07", "undated", 5_000_000), state, conflict, pending, of("11", "said", 900_000_000),
      ])
    try world.ledger.replaceDecisions([
      Decision(breakID: "11", verdict: .explained, reason: "known", who: "me")
    ])
    try world.write(run: run)
    let rows = try world.rows("refetch_worklist.csv")
    let reported = rows.map { row in
      ["priority", "user_id", "breaks", "missing_events", "at_stake_usd", "hours_left"]
        .map { row[$0] ?? "" }.joined(separator: " ")
    }
    #expect(
      reported == [
        "1 both 3 2 13.00 9", "2 sooner 1 1 5.00 9", "3 later 1 1 5.00 40", "4 undated 1 1 5.00 ",
        "5 none 1 1  ", "6 gone 1 1 5.00 0",
      ])
    #expect(rows[0]["break_ids"] == "05 06 08")
    #expect(rows[0]["path"] == "/v4/users/both/purchases")
    #expect(rows[0]["evidence_expires_at"] == "2026-03-10T09:00:00Z")
    #expect(rows[5]["evidence_expires_at"] == "2026-03-09T23:00:00Z")
  }

  @Test(
    "Each provider is asked as its documentation says, with encoded ids",
    arguments: [
      (Provider.qonversion, "QON_a1", "GET api.qonversion.io/v4/users/QON_a1/purchases"),
      (.flobuk, "a b/ü", "GET api.iapguard.com/v1/user/com.app%2F1/a%20b%2F%C3%BC"),
      (.iaptic, "me@x", "GET validator.fovea.cc/v2/customers/me%40x/purchases"),
      (.purple, "device", " "), (.qonversion, "", " "), (.iaptic, "", " "),
    ])
  func requests(provider: Provider, user: String, expected: String) {
    let request = FetchRequest(.purchases, of: user, app: "com.app/1", at: provider)
    #expect("\(request.method) \(request.host)\(request.path)" == expected)
    #expect(!request.note.isEmpty)
  }

  @Test("No request is made if the app is unknown")
  func withoutApp() {
    let request = FetchRequest(.purchases, of: "u", app: "", at: .flobuk)
    #expect(request.method + request.host + request.path == "")
    #expect(request.note.hasPrefix("no app id is known"))
  }

  @Test("Each missing event names the record that shows it; a conflict names none")
  func records() {
    let request = FetchRequest(.entitlements, of: "u", app: "", at: .qonversion)
    #expect(request.path == "/v4/users/u/entitlements")
    for code in BreakCode.allCases where code.isMissing { #expect(code.remedy != nil, "\(code)") }
    #expect(BreakCode.missedRefund.remedy == .purchases)
    #expect(BreakCode.missedCancel.remedy == .entitlements)
    #expect(BreakCode.conflict.remedy == nil)
  }

  private let userKey = Fingerprint.of("user").userKeyText

  private var run: Int64 { (try? world.ledger.runs(newest: 1).first?.id) ?? 0 }

  /// Records a run as of a day in March 2026, which is also the as-of of later writes.
  private func record(_ number: Int, sees breaks: [Break]) throws {
    world.rules.asOf = day(2026, 3, number)
    let run = try world.ledger.beginRun(asOf: world.rules.asOf, version: "1", options: "{}")
    _ = try world.ledger.storeBreaks(breaks, asOf: world.rules.asOf, run: run)
    try world.ledger.finishRun(run, archives: 0, counts: ArchiveCounts(), published: "set")
  }

  private func found(
    _ id: String, expected: Instant? = day(2026, 3, 7), estimate: Int64? = 9_990_000
  ) -> Break {
    var item = Break(id: id, code: .missedRenewal, provider: .qonversion)
    item.severity = .high
    (item.app, item.store, item.product) = ("app", .appStore, "monthly")
    (item.user, item.subscription, item.transaction) = (userKey, "42", "43")
    item.expectedAt = expected
    item.missingEvents = 1
    item.estimatedUSD = estimate.map { Amount(micros: $0) }
    item.basis = .provider
    (item.evidence, item.action) = ("both sides", "ask")
    return item
  }
}
