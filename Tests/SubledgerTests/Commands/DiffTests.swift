import Foundation
import TestSupport
import Testing

@Suite("Diff lists the changes between two published sets cell by cell")
struct DiffTests {
  private let world: World

  /// The set `before` of all archives except an early one, and the set `reports` of all, from one
  /// ledger.
  private static let published = Result {
    let world = try World(seed: 36, subscribers: 120, lost: 10_000, archives: 8)
    let archives = try world.archives().map(\.path)
    let first = world.run(archives: archives.filter { $0 != archives[3] })
    try world.publish(first)
    try FileManager.default.copyItem(
      atPath: world.program.folder.path("reports"),
      toPath: world.program.folder.path("before"))
    try world.publish(world.run())
    return world
  }

  init() throws { world = try World(copying: Self.published.get()) }

  private func rows(_ csv: String) -> [[String: String]] {
    let lines = csv.split(separator: "\n").map { line in
      line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
    return lines.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(lines[0], $0)) }
  }

  @Test("Each differing cell of revenue is listed once, with its difference")
  func cells() throws {
    let result = try world.program.run(["diff", "before", "reports", "--format", "json"])
    #expect(result.status == 1 && result.errors.isEmpty, "\(result)")
    var listed: Set<[String]> = []
    for line in result.output.split(separator: "\n") {
      let change = try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      guard change["report"] as? String == "revenue_monthly" else { continue }
      let cell = ["period", "key", "column", "before", "after", "delta"].map {
        change[$0] as? String ?? ""
      }
      #expect(listed.insert(cell).inserted, "\(cell)")
    }
    let keys = [
      "period", "provider", "app_id", "store", "product_id", "product_type", "charge_kind",
      "country", "storefront", "currency", "proceeds_rate", "amount_basis",
    ]
    func table(_ folder: String) throws -> [String: [String: String]] {
      let rows = try world.program.rows("revenue_monthly.csv", in: folder)
      return Dictionary(
        uniqueKeysWithValues: rows.map { row in
          (keys.map { row[$0] ?? "" }.joined(separator: ","), row)
        })
    }
    let (before, after) = (try table("before"), try table("reports"))
    var expected: Set<[String]> = []
    for key in Set(before.keys).union(after.keys) {
      let (old, new) = (before[key], after[key])
      for column in (new ?? old ?? [:]).keys where !keys.contains(column) {
        let (was, now) = (old?[column] ?? "", new?[column] ?? "")
        guard was != now else { continue }
        let numbers = [old == nil ? "0" : was, new == nil ? "0" : now].map {
          Decimal(string: $0)
        }
        var delta = ""
        if column != "is_complete", let one = numbers[0], let other = numbers[1] {
          delta = "\(other - one)"
        }
        let parts = key.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        expected.insert([String(parts[0]), String(parts[1]), column, was, now, delta])
      }
    }
    // Decimals are compared as numbers: 1.50 equals 1.5.
    func plain(_ cell: [String]) -> [String] {
      cell.dropLast() + [cell[5].isEmpty ? "" : "\(Decimal(string: cell[5]) ?? 0)"]
    }
    #expect(!expected.isEmpty)
    #expect(Set(listed.map(plain)) == Set(expected.map(plain)))
  }

  @Test("A set does not differ from itself in any dialect")
  func same() throws {
    let copy = world.run(out: "german") + ["--csv-dialect", "excel-de"]
    try world.publish(copy)
    try world.publish(world.run(out: "plain"))
    let dialects = try world.program.run(["diff", "german", "plain"]).ended(0)
    #expect(dialects.output.contains("option csv_dialect: \"excel-de\" → \"rfc4180\"\n"))
    #expect(dialects.output.hasSuffix("no cell differs\n"))
    for format in ["csv", "json"] {
      let result = try world.program.run(["diff", "before", "before", "--format", format]).ended(0)
      let header = "report,period,key,column,before,after,delta,cause\n"
      #expect(result.output == (format == "csv" ? header : ""))
    }
  }

  @Test("Run numbers can replace folders, and the ledger stays unchanged")
  func runs() throws {
    let ledger = try Data(
      contentsOf: URL(fileURLWithPath: world.program.folder.path("reports.sqlite")))
    let config = ["--ledger", "reports.sqlite", "--config", "world/subledger.yaml"]
    let runs = try world.program.run(["diff", "1", "2", "--format", "csv"] + config)
    let folders = try world.program.run(["diff", "before", "reports", "--format", "csv"])
    #expect(runs.status == 1, "\(runs)")
    #expect(runs.output == folders.output)
    #expect(runs.errors == folders.errors)
    #expect(
      try Data(contentsOf: URL(fileURLWithPath: world.program.folder.path("reports.sqlite")))
        == ledger)
    let text = try world.program.run(["diff", "1", "2"] + config)
    let cells = runs.output.split(separator: "\n").count - 1
    #expect(text.output.contains("\n\(cells) cells of "), "\(text.output.suffix(200))")
    #expect(text.output.contains("\nrevenue_monthly "))
  }

  @Test("The summary comes first, then the other totals of months, then charges and days")
  func order() throws {
    let rows = try world.program.run(["diff", "before", "reports", "--format", "csv"]).output
    let names = rows.split(separator: "\n").dropFirst().map { String($0.prefix { $0 != "," }) }
    let reports = names.indices.filter { $0 == 0 || names[$0] != names[$0 - 1] }.map { names[$0] }
    let first = ["summary_monthly", "revenue_monthly", "charges"].map { reports.firstIndex(of: $0) }
    #expect(first[0] == 0 && first.compactMap(\.self) == first.compactMap(\.self).sorted())
    #expect(first.allSatisfy { $0 != nil }, "\(reports)")
    let totals = reports.prefix { $0.hasSuffix("_monthly") }
    #expect(!reports.dropFirst(totals.count).contains { $0.hasSuffix("_monthly") }, "\(reports)")
  }

  @Test("A change explained by restatements.csv has its cause")
  func causes() throws {
    let restated = try world.program.rows("restatements.csv", in: "reports")
    let result = try world.program.run(["diff", "before", "reports", "--format", "json"])
    var causes: [[String]: String] = [:]
    for line in result.output.split(separator: "\n") {
      let change = try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      guard let cause = change["cause"] as? String else { continue }
      let cell = ["report", "period", "key", "column"].map { change[$0] as? String ?? "" }
      causes[[cell[0], "\(cell[1]),\(cell[2])", cell[3]]] = cause
    }
    #expect(!restated.isEmpty)
    for row in restated {
      let cell = ["report", "period", "key", "column"].map { row[$0] ?? "" }
      // The key of a cohort contains its month.
      let key = cell[0] == "retention_monthly" ? cell[2] : "\(cell[1]),\(cell[2])"
      #expect(causes[[cell[0], key, cell[3]]] == row["cause"], "\(cell)")
    }
    #expect(causes.count == restated.count)
  }

  @Test("Changes have their cause if the later set has decimal commas")
  func commas() throws {
    let program = try Program()
    let april = Body(50, at: 1_777_507_200).line + "\n"
    try program.folder.write(bodies(3) + april, to: "in/1.jsonl")
    func publish(_ hour: Int, _ arguments: String...) throws {
      let asOf = "2026-05-01T0\(hour):00:00Z"
      try program.run(["run", "--archives", "in", "--as-of", asOf] + arguments).ended(0, 1)
    }
    try publish(1, "--out", "before")
    try program.folder.write(bodies(1, from: 4), to: "in/2.jsonl")
    try FileManager.default.copyItem(
      atPath: program.folder.path("subledger.sqlite"),
      toPath: program.folder.path("german.sqlite"))
    try publish(2, "--out", "plain")
    try publish(2, "--out", "german", "--ledger", "german.sqlite", "--csv-dialect", "excel-de")
    let plain = try program.run(["diff", "before", "plain", "--format", "csv"]).output
    #expect(plain.contains(",net_usd,29.97,39.96,9.99,late_event\n"), "\(plain)")
    #expect(try program.run(["diff", "before", "german", "--format", "csv"]).output == plain)
    let same = try program.run(["diff", "plain", "german"]).ended(0)
    #expect(same.output.hasSuffix("no cell differs\n"), "\(same)")
  }

  @Test("Rows of custom reports name their report")
  func custom() throws {
    let program = try Program()
    for name in ["all", "few"] {
      try program.folder.write(
        """
        -- name: \(name)
        -- column: product_id string key Product.
        -- column: charges integer Charges.
        select product_id, count(*) as charges from v_charge group by 1
        """, to: "own/\(name).sql")
    }
    let run = ["run", "--archives", "in", "--reports-dir", "own", "--as-of", "2026-03-01", "--out"]
    for (number, out) in ["one", "two"].enumerated() {
      try program.folder.write(bodies(1, from: number), to: "in/\(number).jsonl")
      try program.run(run + [out]).ended(0, 1)
    }
    let changes = try program.run(["diff", "one", "two", "--format", "csv"]).output
    for name in ["own/all", "own/few"] {
      #expect(changes.contains("\n\(name),com.example.pro.monthly,,charges,1,2,1,\n"), "\(changes)")
    }
  }

  @Test("A folder that is not a set, or a changed set, is reported")
  func refused() throws {
    try world.program.run(["diff", "before", "nothing"]).ended(66)
    let noRun = try world.program.run(
      ["diff", "1", "9", "--ledger", "reports.sqlite", "--config", "world/subledger.yaml"])
    #expect(noRun.status == 64 && noRun.errors.contains("no run 9"), "\(noRun)")
    let path = world.program.folder.path("before/churn_monthly.csv")
    let handle = try #require(FileHandle(forWritingAtPath: path))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data("x\n".utf8))
    try handle.close()
    let changed = try world.program.run(["diff", "before", "reports"]).ended(65)
    #expect(
      changed.errors.contains("churn_monthly.csv was changed after publication"), "\(changed)")
    #expect(changed.output.isEmpty)
  }
}
