import EventStore
import Foundation
import TestSupport
import Testing

@Suite("A closed month is reconciled with current numbers")
struct CloseTests {
  let program: Program

  init() throws {
    program = try Program()
    // February's charges, and one on the last day of April that shows how far the input goes.
    let april = Body(50, at: 1_777_507_200).line + "\n"
    try program.folder.write(bodies(3) + april, to: "in/1.jsonl")
  }

  /// The run that begins at `hour` of 1 May.
  private func publish(_ hour: Int = 0) throws {
    let asOf = "2026-05-01T\(hour < 10 ? "0" : "")\(hour):00:00Z"
    try program.run(["run", "--archives", "in", "--as-of", asOf]).ended(0, 1)
  }

  /// Restatements of February's revenue row, by column.
  private func revenue() throws -> [String: [String: String]] {
    let rows = try program.rows("restatements.csv").filter {
      $0["report"] == "revenue_monthly" && $0["period"] == "2026-02"
    }
    let named = rows.map { ($0["column"] ?? "", $0) }
    return Dictionary(named, uniquingKeysWith: { first, _ in first })
  }

  @Test("A month that is not over is open, also if none of its rows is incomplete")
  func begun() throws {
    var sandbox = Body(60, at: 1_777_600_800)
    sandbox.members["environment"] = "\"sandbox\""
    try program.folder.write(sandbox.line + "\n", to: "in/2.jsonl")
    _ = try program.run(["run", "--archives", "in", "--as-of", "2026-05-02"])
    #expect(try program.rows("excluded_monthly.csv").map { $0["period"] } == ["2026-05"])
    #expect(try program.run(["status"]).output.contains(#/2026-05  UTC  +open /#))
    let close = try program.run(["close", "2026-05", "--who", "j.doe"])
    #expect(close.status == 75 && close.errors.contains("it is not over"), "\(close)")
  }

  @Test("A month closed in another time zone is shown with that zone")
  func otherZone() throws {
    try publish(1)
    #expect(try program.run(["close", "2026-02", "--who", "j.doe"]).status == 0)
    #expect(try program.run(["status"]).output.contains(#/2026-02  UTC  +closed /#))
    #expect(!(try program.run(["run", "--as-of", "2026-05-02"])).errors.contains("is closed in"))
    let elsewhere = try program.run(["run", "--as-of", "2026-05-02", "--timezone", "Asia/Tokyo"])
    let warning = "2026-02 is closed in UTC, this run is in Asia/Tokyo"
    #expect(elsewhere.errors.contains(warning), "\(elsewhere)")
    let manifest = try program.text(of: "reports/datapackage.json")
    #expect(manifest.contains("Time zone of days and months: Asia/Tokyo"))
    let status = try program.run(["status"]).output
    #expect(status.contains(/2026-02  UTC +closed .* 1\n/), "\(status)")
    #expect(status.contains(#/2026-02  Asia\/Tokyo +complete /#), "\(status)")
    let reopened = try program.run(["reopen", "2026-02", "--reason", "x", "--who", "j.doe"])
    #expect(reopened.status == 64)
    #expect(reopened.errors.contains("it is closed in UTC, not in Asia/Tokyo"), "\(reopened)")
    let pack = try program.run(["pack", "2026-02", "--out", "p.tar.gz"]).ended(0)
    #expect(pack.errors.contains("the pack does not contain the close"), "\(pack)")
    let second = try program.run(["close", "2026-02", "--who", "j.doe"])
    #expect(second.output.contains("2026-02 is closed in Asia/Tokyo with"), "\(second)")
    #expect(second.errors.contains("run 2 before it published in UTC"), "\(second)")
  }

  @Test("Late events, refunds and corrections are reported against the close until it is reopened")
  func story() throws {
    try publish(1)
    let closed = try program.run(["close", "2026-02", "--who", "j.doe"]).ended(0)
    #expect(closed.output.contains("2026-02 is closed in UTC with the numbers of run 1"))
    try publish(2)
    #expect(try program.rows("restatements.csv").isEmpty)

    try program.folder.write(bodies(1, from: 4), to: "in/2.jsonl")
    try publish(3)
    #expect(try revenue()["charges"]?["delta"] == "1")
    #expect(try revenue()["charges"]?["cause"] == "late_event")
    #expect(try revenue()["gross_usd"]?["published"] == "29.97")
    #expect(try revenue()["gross_usd"]?["restated"] == "39.96")
    // The same in every run, because the close is in force.
    try publish(4)
    #expect(try revenue()["charges"]?["published_by_run"] == "1")

    var refund = Body(1, "subscription_refunded", at: 1_772_280_000)
    refund.members["created_at"] = "1777420800"
    try program.folder.write(refund.line + "\n", to: "in/3.jsonl")
    try publish(5)
    #expect(try revenue()["refunds_usd"]?["delta"] == "9.99")
    #expect(try revenue()["refunds_usd"]?["cause"] == "refund")
    #expect(try revenue()["net_usd"] == nil, "29.97 were closed, and 29.97 are left")

    try program.folder.write("periods: {com.example.pro.monthly: P2M}\n", to: "subledger.yaml")
    try publish(6)
    let recurring = try program.rows("restatements.csv").filter {
      $0["report"] == "mrr_monthly" && $0["period"] == "2026-02"
    }
    #expect(!recurring.isEmpty)
    #expect(Set(recurring.compactMap { $0["cause"] }) == ["product_map"])
    var dearer = Body(2)
    dearer.members["revenue"] = Body.money("12.99", rate: 70)
    dearer.members["created_at"] = "1777420800"
    try program.folder.write(dearer.line + "\n", to: "in/4.jsonl")
    try publish(7)
    #expect(try revenue()["net_usd"]?["delta"] == "3.00")
    #expect(try revenue()["net_usd"]?["cause"] == "rate_correction")

    try bridges()

    try reopen()
  }

  /// Checks that every restated number equals the one in its report.
  private func bridges() throws {
    let now = try #require(
      try program.rows("revenue_monthly.csv").first { $0["period"] == "2026-02" })
    for (column, row) in try revenue() {
      #expect(row["restated"] == now[column], "\(column)")
      if let delta = row["delta"].flatMap({ Decimal(string: $0) }),
        let then = row["published"].flatMap({ Decimal(string: $0) })
      {
        #expect(then + delta == Decimal(string: now[column] ?? ""), "\(column)")
      }
    }
  }

  private func reopen() throws {
    try program.run(["reopen", "2026-02"]).ended(64)
    let reopening = ["reopen", "2026-02", "--reason", "belongs in February"]
    let dry = try program.run(reopening, environment: ["SUBLEDGER_DRY_RUN": "1"])
    #expect(dry.output.hasPrefix("dry run: the ledger is unchanged\n2026-02 is open"), "\(dry)")
    try program.run(reopening).ended(0)
    try publish(8)
    #expect(try program.rows("restatements.csv").isEmpty)
    let refused = try program.run(["close", "2026-02"])
    #expect(refused.status == 64 && refused.errors.contains("with reservations"), "\(refused)")
    try program.run(["close", "2026-02", "--force", "--reason", "known"]).ended(0)
    try publish(9)
    #expect(try program.rows("restatements.csv").isEmpty)
    let again = try program.run(["close", "2026-02"]).ended(64)
    #expect(again.errors.contains("it is closed with the numbers of run"))
  }

  @Test("A close keeps no counts of deliveries, which change when an archive is read")
  func deliveries() throws {
    try publish(1)
    try program.folder.write(bodies(1), to: "in/2.jsonl")
    try program.run(["ingest", "--archives", "in"]).ended(0)
    try program.run(["close", "2026-02", "--who", "j.doe"]).ended(0)
    let ledger = try Ledger.open(path: program.folder.path("subledger.sqlite"), mode: .readOnly)
    var reports: Set<String> = []
    try ledger.rows(sql: "select report from closed_report") { reports.insert($0.text(0)) }
    #expect(reports.isSuperset(of: ["churn_monthly", "revenue_daily", "revenue_monthly"]))
    #expect(!reports.contains("deliveries_daily"), "\(reports)")
  }

  @Test(
    "An invalid close reports why, and what to do",
    arguments: [
      (["close", "2026-02"], Int32(66), "does not exist"),
      (["close", "2026-13"], 64, "is not a month"),
      (["close", "february"], 64, "is not a month"),
      (["close", "2026-02", "--force"], 64, "--force needs --reason"),
      (["reopen", "2026-02", "--reason", "x"], 66, "does not exist"),
    ])
  func refused(_ arguments: [String], _ status: Int32, _ words: String) throws {
    let result = try program.run(arguments).ended(status)
    #expect(result.errors.contains(words), "\(result)")
  }

  @Test("A month closes when it is complete, with the rows of the newest run")
  func conditions() throws {
    try publish()
    func refuse(_ arguments: [String], _ status: Int32, _ words: String) throws {
      let result = try program.run(arguments).ended(status)
      #expect(result.errors.contains(words), "\(result)")
    }
    try refuse(["close", "2031-01"], 64, "no report of run 1 has a row of it")
    try refuse(["close", "2026-04"], 75, "later deliveries can still change rows")
    try refuse(["reopen", "2026-02", "--reason", "x"], 64, "it is not closed")
    try program.run(["close", "2026-04", "--force", "--reason", "books close today"]).ended(0)
    let back = ["run", "--archives", "in", "--as-of", "2026-02-28"]
    #expect(try program.run(back).status <= 1)
    try refuse(["close", "2026-02"], 75, "later deliveries can still change rows")
    // A report at an earlier as-of has no row of the closed month.
    let status = try program.run(["status"]).output
    #expect(status.contains(/2026-04  UTC +closed .* 1\n/), "\(status)")
  }
}

extension CloseTests {
  @Test(
    "Changed breaks or closed numbers are refused before a run uses them, and the set stays",
    arguments: [
      "update closed_report set totals = '{}' where report = 'revenue_monthly'",
      "update break_episode set evidence = evidence || '.'",
    ])
  func changed(sql: String) throws {
    try publish(1)
    try program.run(["close", "2026-02", "--reason", "books close", "--who", "j.doe"])
    if sql.contains("break") { try publish(2) }
    let before = try program.published()
    let ledger = try Ledger.open(
      path: program.folder.path("subledger.sqlite"), mode: .readWrite)
    try ledger.rows(sql: sql) { _ in }
    try ledger.checkpoint()
    try program.folder.write(bodies(2, from: 80), to: "in/2.jsonl")
    let run = try program.run(["run", "--archives", "in", "--as-of", "2026-05-01T03:00:00Z"])
    #expect(run.status == 65 && run.errors.contains("damaged"), "\(run)")
    #expect(try program.published() == before)
  }
}
