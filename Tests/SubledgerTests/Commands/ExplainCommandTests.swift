import Foundation
import TestSupport
import Testing

@Suite("Explain lists the events behind a number, with their provenance")
struct ExplainCommandTests {
  let program: Program

  private let settings = Program.sampleSettings

  init() throws { program = try Program.ofSample.get() }

  /// A program in another folder, with a copy of the ledger.
  private func copy() throws -> Program {
    let other = try Program()
    try FileManager.default.copyItem(
      atPath: program.folder.path("subledger.sqlite"),
      toPath: other.folder.path("subledger.sqlite"))
    return other
  }

  private func explain(_ arguments: String...) throws -> ProgramResult {
    try program.run(["explain"] + arguments)
  }

  /// The lines of an explanation as CSV, by column name.
  func lines(_ arguments: [String]) throws -> [[String: String]] {
    let result = try program.run(["explain"] + arguments + ["--format", "csv"]).ended(0)
    return try readCSV(program.folder.write(result.output, to: "\(UUID().uuidString).csv"))
  }

  /// The sum of the contributions to a column, in millionths.
  func sum(_ lines: [[String: String]], _ column: String) -> Decimal {
    lines.filter { $0["column"] == column }.reduce(0) {
      $0 + (Decimal(string: $1["contribution"] ?? "") ?? 0)
    }
  }

  @Test(
    "The listed contributions add up to the cell, in every report",
    arguments: [
      "revenue_monthly", "churn_monthly", "mrr_monthly", "renewals_monthly", "trials_monthly",
      "retention_monthly", "excluded_monthly", "quality_monthly",
    ])
  func sums(report: String) throws {
    let rows = try program.rows("\(report).csv")
    let row = try #require(rows.last)
    let keys = [
      "period", "cohort", "provider", "app_id", "store", "product_id", "product_type",
      "charge_kind", "country", "storefront", "currency", "proceeds_rate", "amount_basis",
      "renewal_ordinal", "period_index", "reason",
    ].compactMap { key in row[key].map { "\(key)=\($0)" } }
    let lines = try lines([report] + keys)
    var compared = 0
    for (column, cell) in row where !keys.contains("\(column)=\(cell)") {
      guard let number = Decimal(string: cell), !column.contains("rate") else { continue }
      #expect(sum(lines, column) == number, "\(column)")
      compared += 1
    }
    #expect(compared > 0)
    #expect(lines.allSatisfy { $0["role"] == "carries" || $0["column"] == "" })
  }

  @Test("Each line gives the position of its body in the archive")
  func places() throws {
    let lines = try lines(["revenue_monthly", "period=2026-02", "provider=qonversion", "charges"])
    #expect(lines.count > 10)
    for line in lines.prefix(20) {
      let archive = try #require(line["archive"])
      let bytes = try gzip("-cd", Project.path("sample-data/archives/\(archive)"))
      let offset = try #require(line["byte_offset"].flatMap { Int($0) })
      let value = String(
        decoding: bytes[offset...].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      let transaction = try #require(line["transaction_id"])
      #expect(value.contains(transaction), "\(archive) byte \(offset)")
      let before = bytes[..<offset].count { $0 == UInt8(ascii: "\n") }
      #expect(line["line"] == "\(before + 1)")
    }
  }

  @Test("docs/explain.md prints what its commands print")
  func document() throws {
    let text = try Project.text(of: "docs/explain.md")
    var blocks = 0
    for block in text.components(separatedBy: "```\n$ subledger explain ").dropFirst() {
      let parts = block.split(separator: "\n", maxSplits: 1)
      let words = parts[0].split(separator: " ").map(String.init)
      let expected = parts[1].components(separatedBy: "```")[0]
      let result = try program.run(["explain"] + words)
      #expect(result.output == expected, "\(words)")
      #expect(result.errors.isEmpty, "\(result)")
      blocks += 1
    }
    #expect(blocks == 1)
  }

  @Test("A break, a subscription and a transaction are explained by their events")
  func subjects() throws {
    let row = try #require(
      program.rows("breaks.csv").first {
        $0["code"] == "MISSED_RENEWAL" && $0["provider"] == "qonversion"
      })
    let id = try #require(row["break_id"])
    let subscription = try #require(row["subscription_id"])
    let finding = try explain("--break", id).ended(0)
    for text in [id, subscription, row["evidence"] ?? "", "snapshot", ".jsonl.gz line "] {
      #expect(finding.output.contains(text), "\(text)")
    }
    let history = try explain("--subscription", subscription)
    for text in ["paid period of", "churned: churn_monthly churned +1, mrr_monthly churned", id] {
      #expect(history.output.contains(text), "\(text): \(history)")
    }
    let reported = try #require(
      try lines(["--subscription", subscription]).last { $0["kind"] == "renewed" })
    let transaction = try explain("--transaction", reported["transaction_id"] ?? "")
    #expect(transaction.output.contains("renewals_monthly renewals +1"), "\(transaction)")
    #expect(transaction.output.contains("line \(reported["line"] ?? "") byte"), "\(transaction)")
  }

  @Test("A break leads to its subscription, however the subscription's id is printed")
  func namedOddly() throws {
    let other = try Program()
    let originals = ["plain-1", "=sum(1)", "-5;=x", "a;=b", "tab\\tid"]
    let lines = originals.enumerated().map { number, original in
      var body = Body(number)
      body.members["event_name"] = "\"subscription_canceled\""
      body.members["transaction"] =
        #"{"transaction_id":"\#(original).9","original_transaction_id":"\#(original)"}"#
      return body.line + "\n"
    }
    try other.folder.write(lines.joined(), to: "in/a.jsonl")
    try other.run(["run", "--archives", "in", "--as-of", "2026-03-01"]).ended(0, 1)
    let ids = try other.rows("breaks.csv").filter { $0["code"] == "UNEXPECTED_REVENUE" }
      .compactMap { $0["break_id"] }
    #expect(ids.count == originals.count)
    for id in ids {
      let reported = try other.run(["explain", "--break", id])
      #expect(reported.output.contains("  received\n"), "\(reported)")
      #expect(!reported.output.contains("no event of its subscription was received"), "\(reported)")
    }
  }

  @Test("At an earlier as-of the numbers are those that a report of that time publishes")
  func earlier() throws {
    let arguments = [
      "churn_monthly", "provider=qonversion", "period=2025-08", "active_close", "--as-of",
      "2025-08-20",
    ]
    let lines = try lines(arguments)
    let other = try copy()
    try other.run(["report", "--as-of", "2025-08-20", "--out", "then"] + settings).ended(0, 1)
    let rows = try other.rows("churn_monthly.csv", in: "then").filter {
      $0["provider"] == "qonversion" && $0["period"] == "2025-08"
    }
    let active = rows.reduce(Decimal(0)) { $0 + (Decimal(string: $1["active_close"] ?? "") ?? 0) }
    #expect(active > 0)
    #expect(sum(lines, "active_close") == active)
  }

  @Test("JSON output has one object per line")
  func json() throws {
    let result = try explain("trials_monthly", "period=2025-06", "--format", "json")
    var kinds: Set<String> = []
    for line in result.output.split(separator: "\n") {
      let tree = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      kinds.insert(try #require(tree?["is"] as? String))
    }
    #expect(kinds == ["subject", "number", "entry"])
  }

  @Test("An unknown name is reported with the valid ones")
  func wrong() throws {
    let wrong: [(arguments: [String], status: Int32, text: String)] = [
      (["revenues"], 64, "revenue_monthly, churn_monthly"),
      (["revenue_monthly", "colour=red"], 64, "its keys are period, provider"),
      (["revenue_monthly", "grossusd"], 64, "gross_usd"),
      (["revenue_monthly", "provider=apple"], 64, "qonversion, flobuk"),
      (["revenue_monthly", "product_id=nope"], 64, "com.example.pro.monthly"),
      (["revenue_monthly", "period=june"], 64, "2026-10"),
      (["revenue_monthly", "charges", "refunds"], 64, "one column"),
      ([], 64, "--subscription"),
      (["revenue_monthly", "--break", "x"], 64, "one subject"),
      (["coverage"], 64, "revenue_monthly, churn_monthly"),
      (["--break", "x"], 66, "break_id"), (["--subscription", "x"], 66, "--break"),
      (["--transaction", "x"], 66, "transaction x"),
      (["revenue_monthly", "--ledger", "absent.sqlite"], 66, "absent.sqlite"),
    ]
    for (arguments, status, text) in wrong {
      let result = try program.run(["explain"] + arguments)
      #expect(result.status == status, "\(arguments): \(result)")
      #expect(result.errors.contains(text), "\(arguments): \(result)")
      #expect(result.output.isEmpty, "\(arguments): \(result)")
    }
    for (key, text) in [
      ("period=2024-01", "no row of revenue_monthly has these keys"),
      ("period=2026-03", "before this time begins: nothing is known of it yet"),
    ] {
      let none = try explain("revenue_monthly", key)
      #expect(none.status == 0 && none.output.contains(text), "\(none)")
    }
  }

  @Test("Explain reads while another process holds the ledger, and leaves no file")
  func locked() throws {
    let other = try copy()
    let lock = other.folder.path("subledger.sqlite.lock")
    let descriptor = open(lock, O_RDWR | O_CREAT, 0o600)
    try #require(descriptor >= 0 && flock(descriptor, LOCK_EX) == 0)
    defer { close(descriptor) }
    let before = try filesAndBytes(under: other.folder.path)
    try other.run(["explain", "churn_monthly", "period=2025-06"]).ended(0)
    let after = try filesAndBytes(under: other.folder.path)
    #expect(
      Set(after.keys).subtracting(before.keys).allSatisfy { $0.hasPrefix("subledger.sqlite-") })
    #expect(after["subledger.sqlite"] == before["subledger.sqlite"])
  }
}
