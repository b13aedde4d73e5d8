import Foundation
import TestSupport
import Testing

@Suite("The page shows the values of the set's CSV files")
struct PageTests {
  private let program: Program

  init() throws { program = try Program() }

  @Test("Every number on the sample's page is computed from the cells it names")
  func numbers() throws {
    let page = try compared(Project.path("reports"))
    #expect(page.numbers.count > 1_000)
    let texts = Set(page.numbers.map(\.text))
    let charted = page.titles.flatMap { $0.split(separator: "\n").dropFirst() }
    try #require(charted.count > 300)
    for line in charted {
      let number = String(line.split(separator: ": ").last ?? "")
      #expect(texts.contains(number), "\(line)")
    }
  }

  @Test("The sample's page needs no other file, and its links have targets")
  func links() throws {
    let text = try Project.text(of: "reports/index.html")
    #expect(text.utf8.count < 1_000_000)
    for word in ["<script", "http:", "https:", "@import", "javascript:", " style="] {
      #expect(!text.contains(word), "\(word)")
    }
    #expect(!text.contains(/\son[a-z]+="/))
    let page = PageNumbers(text)
    #expect(page.unbalanced == [])
    try #require(page.links.count > 50)
    for link in page.links {
      if link.hasPrefix("#") {
        #expect(page.anchors.contains(String(link.dropFirst())), "\(link)")
      } else {
        #expect(FileManager.default.fileExists(atPath: Project.path("reports/\(link)")), "\(link)")
      }
    }
  }

  @Test("Dialect and locale change no number; the locale changes only its format")
  func locale() throws {
    try program.run(simulate)
    let run = ["run", "--archives", "world/archives", "--as-of", "2025-07-15"]
    try program.run(run + ["--out", "plain"])
    let report = ["report", "--as-of", "2025-07-15"]
    try program.run(report + ["--csv-dialect", "excel-de", "--out", "excel"])
    try program.run(report + ["--locale", "de", "--out", "german"])
    let plain = try program.published(in: "plain")
    #expect(try program.published(in: "excel")["index.html"] == plain["index.html"])
    let german = try program.published(in: "german")
    let changed = Set(plain.keys.filter { plain[$0] != german[$0] })
    #expect(changed == ["index.html", "datapackage.json", "SHA256SUMS"])
    _ = try compared(program.folder.path("plain"))
    _ = try compared(program.folder.path("german"), grouping: ".", sign: ",")
  }

  @Test("A reproduced set has the page of its run in that run's locale")
  func reproduced() throws {
    try program.run(simulate)
    try program.run([
      "run", "--archives", "world/archives", "--as-of", "2025-07-15", "--locale", "fr",
    ])
    try program.run(["report", "--at-run", "1", "--out", "again"]).ended(0, 1)
    #expect(try program.published(in: "again") == program.published())
    try program.run(["report", "--at-run", "1", "--locale", "de", "--out", "again"]).ended(64)
  }

  @Test("A set without rows is marked as such, and one with reservations lists them")
  func reservations() throws {
    try program.folder.write("{}\n", to: "few/a.jsonl")
    try program.run(["run", "--archives", "few", "--as-of", "2025-07-15"])
    let empty = try text(in: "reports")
    #expect(empty.contains("The set has no charge and no subscription."))
    #expect(empty.contains("Published without reservations"))
    _ = try compared(program.folder.path("reports"))
    try program.run(simulate)
    let bad = String(repeating: "{\"a\":1}\n", count: 30)
    try program.folder.write(bad, to: "world/archives/b.jsonl")
    try program.run(["run", "--archives", "world/archives", "--as-of", "2025-07-15"]).ended(1)
    let qualified = try text(in: "reports")
    #expect(qualified.contains("Published with reservations"))
    #expect(qualified.contains("30 of 30 lines of b.jsonl were rejected"))
  }

  @Test("Recurring revenue names its cells also in a month without any")
  func free() throws {
    var body = Body()
    body.members["revenue"] = Body.money("0.00", rate: 70)
    body.members["price"] = nil
    try program.folder.write(body.line + "\n", to: "in/a.jsonl")
    try program.run(["run", "--archives", "in", "--as-of", "2026-03-10"]).ended(0, 1)
    #expect(try program.rows("mrr_monthly.csv").isEmpty)
    let page = try compared(program.folder.path("reports"))
    #expect(page.numbers.contains { $0.attributes["data-sum"] == "mrr_close" && $0.text == "0.00" })
  }

  private let simulate = [
    "simulate", "--seed", "7", "--subscribers", "40", "--months", "7", "--out", "world",
  ]

  private func text(in out: String) throws -> String {
    try program.text(of: "\(out)/index.html")
  }

  /// The page in `folder`, with each number compared with its cells.
  private func compared(
    _ folder: String, grouping: String = ",", sign: String = "."
  ) throws -> PageNumbers {
    let page = PageNumbers(
      try String(contentsOfFile: "\(folder)/index.html", encoding: .utf8))
    #expect(page.unexplained == [])
    let cells = SetCells(folder)
    var wrong: [String] = []
    for number in page.numbers where number.text != "" {
      let expected = try cells.expected(number, grouping: grouping, sign: sign)
      if number.text != expected {
        wrong.append("\(number.text), not \(expected): \(number.attributes)")
      }
    }
    #expect(wrong.prefix(5) == [])
    return page
  }
}
