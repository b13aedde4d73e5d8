import Foundation
import TestSupport
import Testing

@Suite("Custom reports are published like the others")
struct CustomReportTests {
  private static let examples = Project.path("examples/reports")
  let program: Program

  private static let settings =
    Program.sampleSettings + [
      "--as-of", "2026-03-01", "--reports-dir", examples,
    ]

  /// A set of the sample with both examples, created once; tests that write copy it.
  private static let prepared = Result {
    let program = try Program()
    try program.run(Program.sampleRun + ["--reports-dir", examples]).ended(0)
    return program
  }

  init() throws { program = try Self.prepared.get() }

  private func micros(_ cell: String?) -> Int64? {
    Decimal(string: cell ?? "").map { Int64(truncating: $0 * 1_000_000 as NSDecimalNumber) }
  }

  @Test("The numbers of a cohort are computed from its charges")
  func numbers() throws {
    let life = try program.rows("own/ltv_monthly.csv").filter {
      $0["cohort"] == "2025-01" && $0["provider"] == "flobuk" && $0["app_id"] == ""
    }
    // One subscription of 9.99 a month for five months, with 85 % left after commission.
    #expect(life.count == 14 && life.allSatisfy { $0["subscriptions"] == "1" })
    #expect(
      life.prefix(6).map { $0["net_usd"] } == ["9.99", "9.99", "9.99", "9.99", "9.99", "0.00"])
    #expect(
      life.prefix(6).map { $0["ltv_proceeds_usd"] }
        == ["8.4915", "16.983", "25.4745", "33.966", "42.4575", "42.4575"])
    #expect(life.map { $0["months_since"] } == (0..<14).map { "\($0)" })
    let users = try program.rows("own/arpu_monthly.csv").filter {
      $0["cohort"] == "2025-01" && $0["provider"] == "flobuk"
    }
    // Four users paid 169.96 in the month, and one of them 9.99 in the next.
    #expect(users.first?["users"] == "4" && users.first?["net_usd"] == "169.96")
    #expect(users.first?["arpu_usd"] == "42.49" && users.first?["arppu_usd"] == "42.49")
    #expect(users[1]["paying_users"] == "1" && users[1]["arpu_usd"] == "2.4975")
  }

  @Test("Every charge is in a cohort: cohorts add up to the months of revenue")
  func sums() throws {
    let cohorts = try program.rows("own/arpu_monthly.csv")
    let months = try program.rows("revenue_monthly.csv")
    for period in Set(months.compactMap { $0["period"] }) {
      func sum(_ rows: [[String: String]]) -> Int64 {
        rows.filter { $0["period"] == period }.reduce(0) { $0 + (micros($1["net_usd"]) ?? 0) }
      }
      guard !cohorts.contains(where: { $0["period"] == period && $0["net_usd"] == "" }) else {
        continue
      }
      #expect(sum(cohorts) == sum(months), "\(period)")
    }
  }

  @Test("Manifest and checksums describe the files, with the version of each report")
  func described() throws {
    let sums = try program.text(of: "reports/SHA256SUMS")
    #expect(sums.contains("  own/ltv_monthly.csv\n") && sums.contains("  own/arpu_monthly.csv\n"))
    let manifest = try #require(
      try JSONSerialization.jsonObject(
        with: Data(contentsOf: program.folder.url.appending(path: "reports/datapackage.json")))
        as? [String: Any])
    let resources = manifest["resources"] as? [[String: Any]] ?? []
    let schema = resources.first { $0["path"] as? String == "own/ltv_monthly.csv" }?["schema"]
    let described = schema as? [String: Any]
    #expect(
      described?["primaryKey"] as? [String] == ["cohort", "provider", "app_id", "months_since"])
    let fields = described?["fields"] as? [[String: Any]] ?? []
    #expect(fields.first?["type"] as? String == "yearmonth")
    #expect(fields.last?["unit"] as? String == "USD")
    let options = (manifest["subledger"] as? [String: Any])?["options"] as? [String: Any]
    let own = options?["reports"] as? [String: String] ?? [:]
    #expect(own.keys.sorted() == ["arpu_monthly", "ltv_monthly"])
    #expect(own.values.allSatisfy { $0.hasPrefix("sha256:") })
  }

  @Test("An earlier set is reproduced with its reports, even if there are none now")
  func again() throws {
    let program = try Program(copying: program)
    let before = try program.published()
    let without = Array(Self.settings.dropLast(2))
    let next = try program.run(["report"] + without)
    #expect(next.status == 0 && next.errors.contains("custom reports"), "\(next)")
    #expect(try program.published().keys.allSatisfy { !$0.hasPrefix("own") })
    try program.run(["report", "--at-run", "1", "--out", "again"]).ended(0)
    #expect(try program.published(in: "again") == before)
  }

  @Test("A report that cannot be published stops a run before it begins")
  func refused() throws {
    let query = "-- column: a integer key A.\nselect 1 as a"
    let cases: [(file: String, text: String, reason: String)] = [
      ("a.sql", "-- name: b\n\(query)", "a.sql, line 1: the name is not that of the file"),
      ("a.sql", query, "lacks the name"), ("A.sql", query, "other characters than a-z"),
      ("breaks.sql", "-- name: breaks\n\(query)", "already exists"),
      (
        "a.sql", "-- name: a\n-- column: a number key A.\nselect 1 as a",
        "line 2: the column must be"
      ),
      ("a.sql", "-- name: a\n-- column: a integer A.\nselect 1 as a", "a column that is a key"),
      ("a.sql", "-- name: a\n\(query), 2 as b", "its columns are a, and those of the query a, b"),
      ("a.sql", "-- name: a\n\(query)\nfrom nowhere", "no such table: nowhere"),
      ("a.sql", "-- name: a\n\(query), value\nfrom string", "string.value is prohibited"),
      (
        "a.sql", "-- name: a\n-- column: a integer key A.\nselect random() as a",
        "line 3: not authorized"
      ),
    ]
    let program = try Program()
    for (index, broken) in cases.enumerated() {
      try program.folder.write(broken.text, to: "\(index)/\(broken.file)")
      let result = try program.run(["run", "--archives", "none", "--reports-dir", "\(index)"])
      #expect(result.status == 78 && result.errors.contains(broken.reason), "\(result)")
    }
    for name in ["b", "a"] { try program.folder.write(query, to: "both/\(name).sql") }
    let both = try program.run(["config", "check", "--reports-dir", "both"])
    #expect(both.output.contains("a.sql, line 1") && both.output.contains("b.sql, line 1"))
    #expect(!FileManager.default.fileExists(atPath: program.folder.path("subledger.sqlite")))
    let missing = try program.run(["run", "--archives", "none", "--reports-dir", "missing"])
    #expect(missing.status == 66 && missing.errors.contains("given with option --reports-dir"))
  }

  @Test("Rows are ordered by their keys as printed")
  func order() throws {
    let program = try Program(copying: program)
    try program.folder.write(
      """
      -- name: mine
      -- column: a string key A.
      select '(z' as a union all select '+a' union all select 'b'
      """, to: "own/mine.sql")
    try program.run(["report"] + Array(Self.settings.dropLast()) + ["own"]).ended(0)
    #expect(try program.rows("own/mine.csv").map { $0["a"] } == ["'+a", "(z", "b"])
  }

  @Test("A value of the wrong type leaves the set unchanged, and is reported")
  func misfits() throws {
    let program = try Program(copying: program)
    let before = try program.published()
    let cases = [
      ("integer", "1.5", "a of row 2 is not integer"), ("usd", "'1.50'", "a of row 2 is not usd"),
      ("yearmonth", "'2025-13'", "not yearmonth"), ("date", "'20250101'", "not date"),
      ("date", "'2025-13-41'", "not date"), ("datetime", "'2025-01-01T25:00:00Z'", "not datetime"),
      ("datetime", "'2025-01-01 00:00'", "not datetime"), ("boolean", "1", "not boolean"),
      ("string", "2", "not string"), ("string", "null", "two rows have the same key"),
      ("string", "''", "two rows have the same key"),
    ]
    for (index, (type, value, reason)) in cases.enumerated() {
      try program.folder.write(
        """
        -- name: mine
        -- column: a \(type) key A.
        select null as a union all select \(value)
        """, to: "\(index)/mine.sql")
      let result = try program.run(
        ["report"] + Array(Self.settings.dropLast()) + ["\(index)"])
      #expect(result.status == 78 && result.errors.contains(reason), "\(type) \(result)")
    }
    #expect(try program.published() == before)
  }
}
