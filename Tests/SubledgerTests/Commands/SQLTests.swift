import Foundation
import TestSupport
import Testing

@Suite("Analysts query the views in SQL")
struct SQLTests {
  let program: Program

  init() throws { program = try Program.ofSample.get() }

  private func rows(_ query: String) throws -> [[String: String]] {
    let result = try program.run(["sql", query]).ended(0)
    return try readCSV(program.folder.write(result.output, to: "\(UUID().uuidString).csv"))
  }

  /// The rows of a report with one file per month.
  private func monthly(_ report: String) throws -> [[String: String]] {
    try FileManager.default.contentsOfDirectory(atPath: program.folder.path("reports/\(report)"))
      .sorted().flatMap { try program.rows("\(report)/\($0)") }
  }

  /// Rows without some columns, in a fixed order.
  private func texts(_ rows: [[String: String]], without columns: Set<String> = []) -> [String] {
    rows.map { row in
      row.filter { !columns.contains($0.key) && !$0.key.hasSuffix("_micros") }
        .map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
    }.sorted()
  }

  @Test("A view contains what its report prints")
  func views() throws {
    let revenue = try monthly("revenue_daily")
    try #require(revenue.count > 1000)
    #expect(
      texts(try rows("select * from v_revenue_daily"))
        == texts(revenue, without: ["is_complete"]))
    let charges = try monthly("charges")
    try #require(charges.count > 1000)
    #expect(texts(try rows("select * from v_charge"), without: ["period"]) == texts(charges))
    let breaks = try program.rows("breaks_history.csv")
    try #require(!breaks.isEmpty)
    #expect(texts(try rows("select * from v_break")) == texts(breaks))
  }

  @Test("Movements add up to the months of churn and recurring revenue")
  func movements() throws {
    var compared = 0
    for (report, column) in [("churn_monthly", "subscriptions"), ("mrr_monthly", "mrr_usd")] {
      let words = try rows("select distinct movement from v_movement").compactMap {
        $0["movement"]
      }
      let months = try program.rows("\(report).csv")
      // There, the number of renewing subscriptions is a balance at the month's end.
      for word in words where months.first?[word] != nil && word != "auto_renew_off" {
        let printed = months.reduce(Decimal(0)) { $0 + (Decimal(string: $1[word] ?? "") ?? 0) }
        let moved = try rows("select \(column) from v_movement where movement = '\(word)'")
          .reduce(Decimal(0)) { $0 + (Decimal(string: $1[column] ?? "") ?? 0) }
        #expect(printed == moved, "\(report) \(word)")
        compared += 1
      }
    }
    #expect(compared > 10)
  }

  @Test("Millionths add up exactly to the months of revenue")
  func sums() throws {
    let months = try program.rows("revenue_monthly.csv")
    let printed = months.reduce(Decimal(0)) {
      $0 + (Decimal(string: $1["proceeds_usd"] ?? "") ?? 0)
    }
    for view in ["v_charge", "v_revenue_daily"] {
      let sum = try rows("select sum(proceeds_usd_micros) as micros from \(view)").first?["micros"]
      #expect(Decimal(string: sum ?? "") == printed * 1_000_000, "\(view)")
    }
  }

  @Test("Events, periods and snapshots match the ledger")
  func packed() throws {
    let events = try rows(
      """
      select count(*) as events, sum(kind = 'renewed' and subscription_id = '') as nameless,
        (select count(*) from v_charge
          where (archive, line) not in (select archive, line from v_event)) as unseen
      from v_event
      """)
    #expect(Int(events.first?["events"] ?? "") ?? 0 > 2000)
    #expect(events.first?["nameless"] == "0" && events.first?["unseen"] == "0")
    let paid = try rows(
      """
      select count(*) as charges, sum(period.starts_at is null) as alone from v_charge as charge
      left join v_period as period
        on period.subscription_id = charge.subscription_id
        and period.starts_at = charge.period_start and period.kind = 'paid'
      where charge.period_start <> '' and charge.kind = 'charge'
      """)
    #expect(paid.first?["alone"] == "0", "every charge with a period pays for one of them")
    #expect(Int(paid.first?["charges"] ?? "") ?? 0 > 1000)
    let snapshots = try rows(
      """
      select user_id, count(distinct captured_at) as captures from v_snapshot
      group by provider, app_id, user_id
      """)
    #expect(!snapshots.isEmpty && snapshots.allSatisfy { $0["captures"] == "1" })
  }

  @Test("The list of views matches their columns")
  func list() throws {
    let listed = try program.run(["sql", "--format", "csv"])
    let columns = try readCSV(program.folder.write(listed.output, to: "views.csv"))
      .filter { $0["column"] != "" }
    let views = Dictionary(grouping: columns) { $0["view"] ?? "" }
    #expect(views.count == 7)
    for (view, columns) in views {
      let header = try program.run(["sql", "select * from \(view) limit 0"])
      #expect(header.output == columns.compactMap { $0["column"] }.joined(separator: ",") + "\n")
    }
  }

  @Test(
    "Anything but a query over the views is refused with SQLite's message and position",
    arguments: [
      ("select 1 one FORM", "at line 1, column 14: near \"FORM\": syntax error"),
      ("select 1,\n  missing from v_break", "at line 2, column 3: no such column: missing"),
      ("select value from string", "access to string.value is prohibited"),
      ("select sql from sqlite_schema", "prohibited"),
      ("delete from v_event", refusal), ("create table a (b)", refusal), ("begin", refusal),
      ("attach 'other.sqlite' as other", refusal), ("pragma query_only = off", refusal),
      ("vacuum into 'copy.sqlite'", refusal), ("select 1; select 2", "more than one statement"),
      ("select ?", "parameter"), (" ", "there is no query"),
      ("select sum(9223372036854775807) from v_movement", "integer overflow"),
    ])
  func refused(query: String, reason: String) throws {
    let result = try program.run(["sql", query]).ended(64)
    #expect(result.errors.contains(reason), "\(result)")
    #expect(!FileManager.default.fileExists(atPath: program.folder.path("copy.sqlite")))
  }

  @Test("A comment after the query is not a second query")
  func comment() throws {
    #expect(try rows("select 1 as one; -- and no more\n").first?["one"] == "1")
  }

  @Test("A query can be in a file; rows are written in the chosen format, up to the limit")
  func formats() throws {
    try program.folder.write(
      "select -1 as a, '-0.50' as b, '=1+1' as c, null as d union all select 2, '', 'x', 0\n",
      to: "query.sql")
    func run(_ arguments: String...) throws -> ProgramResult {
      try program.run(["sql", "query.sql"] + arguments)
    }
    #expect(try run().output == "a,b,c,d\n-1,-0.50,'=1+1,\n2,,x,0\n")
    #expect(
      try run("--format", "json").output
        == """
        {"a":-1,"b":"-0.50","c":"=1+1","d":null}
        {"a":2,"b":"","c":"x","d":0}

        """)
    #expect(
      try run("--format", "table").output.split(separator: "\n")
        == [" a  b      c     d", "-1  -0.50  =1+1", " 2         x     0"])
    let cut = try run("--max-rows", "1")
    #expect(cut.status == 1 && cut.output == "a,b,c,d\n-1,-0.50,'=1+1,\n", "\(cut)")
    #expect(cut.errors.contains("cut"))
    #expect(try run("--max-rows", "2").status == 0)
    #expect(try program.run(["sql", "missing.sql"]).status == 66)
  }

  @Test("A run publishes while a query reads, without disturbing it")
  func meanwhile() throws {
    let program = try Program(copying: program)
    let process = try program.start(
      [
        "sql", "--timeout", "3600",
        "with recursive n (i) as (select 1 union all select i + 1 from n) select max(i) from n",
      ])
    // It keeps reading, but leaves the processor to others.
    usleep(500_000)
    kill(process.processIdentifier, SIGSTOP)
    try program.run(["report", "--as-of", "2026-03-02"]).ended(0, 1)
    #expect(process.isRunning)
    kill(process.processIdentifier, SIGCONT)
    process.terminate()
    process.waitUntilExit()
    #expect(process.terminationStatus == 143)
    #expect(try program.run(["sql", "select count(*) from v_charge"]).status == 0)
  }

  @Test("A query ends at its time limit and on a signal")
  func limits() throws {
    let endless = """
      with recursive n (i) as (select 1 union all select i + 1 from n) select count(*) from n
      """
    let late = try program.run(["sql", endless, "--timeout", "1"]).ended(142)
    #expect(late.errors.contains("time limit"))
    let process = try program.start(["sql", endless])
    usleep(500_000)
    process.terminate()
    process.waitUntilExit()
    #expect(process.terminationStatus == 143)
  }
}

private let refusal =
  "it may only read, with SELECT; to change data, use a copy made by `subledger backup`"
