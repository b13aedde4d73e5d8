import Foundation
import Ledger
import TestSupport
import Testing
import Vocabulary

/// What a ledger's cells hold, and the breaks that stand, in words rather than in symbols, whose
/// numbers depend on arrival.
private func cells(_ path: String) throws -> [String: [String]] {
  let ledger = try Ledger.open(path: path, mode: .readOnly)
  let words = ledger.symbols.words
  let worded: Set<String> = ["app", "product", "country", "storefront", "currency"]
  var tables: [String: [String]] = [:]
  for table in [
    "revenue_cell", "movement_cell", "renewal_cell", "trial_cell", "retention_cell",
    "excluded_cell", "arrival_cell", "coverage_cell", "churn_doubt", "rate_cell", "price_cell",
  ] {
    let columns = table == "rate_cell" ? "currency, day, hex(rates)" : "*"
    var rows: [String] = []
    try ledger.rows(sql: "select \(columns) from \(table)") { row in
      let cells = zip(row.names, 0..<row.count).map { name, index in
        worded.contains(name) ? words[Int(row.int64(index))] : row.text(index)
      }
      rows.append(cells.joined(separator: "|"))
    }
    tables[table] = rows.sorted()
  }
  var breaks: [String] = []
  try ledger.rows(
    sql: """
      select break_id, code, status, severity, lineage, expected_ms, settles_ms, estimated_usd,
        evidence
      from break_episode where resolved_ms is null
      """
  ) { row in breaks.append((0..<row.count).map { row.text($0) }.joined(separator: "|")) }
  tables["break"] = breaks.sorted()
  return tables
}

/// Deliveries of a synthetic year that come night by night, some late, some twice, some changed.
private struct Nights {
  let world: World
  var random: SplitMix
  private(set) var waiting: [[Data]]

  init(seed: UInt64, providers: String) throws {
    world = try World(
      seed: Int(seed), subscribers: 90, months: 13, lost: 10_000, archives: 60,
      more: ["--providers", providers, "--duplicated", "40000", "--delayed", "30000"])
    random = SplitMix(seed: seed)
    waiting = []
    for archive in try world.archives() {
      let lines = try gzip("-dc", archive.path).split(separator: UInt8(ascii: "\n"))
      waiting.append(lines.map { Data($0) })
    }
  }

  /// The lines of the next night: most of some archives, and what earlier nights kept back.
  mutating func next(_ count: Int) -> [Data] {
    var lines: [Data] = []
    for _ in 0..<min(count, waiting.count) {
      var late: [Data] = []
      for line in waiting.removeFirst() {
        if random.isOneIn(20) { late.append(line) } else { lines.append(line) }
        if random.isOneIn(60) { late.append(line) }
        if random.isOneIn(60) { late.append(changed(line)) }
      }
      if waiting.isEmpty { lines += late } else { waiting[waiting.count / 2] += late }
    }
    return lines
  }

  /// The same event as another version tells it.
  private func changed(_ line: Data) -> Data {
    let text = String(decoding: line, as: UTF8.self)
    return Data(text.replacingOccurrences(of: "\"USD\"", with: "\"EUR\"").utf8)
  }
}

/// Numbers that look random and are the same for the same seed (SplitMix64).
private struct SplitMix {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 &+ 1 }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }

  mutating func isOneIn(_ count: UInt64) -> Bool { next() % count == 0 }

  mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }
}

@Suite("A night costs what is new and comes to what a run over everything comes to")
struct IncrementTests {
  @Test(
    "After each of many nights the cells equal those of one run over everything",
    arguments: [(11, "qonversion"), (12, "qonversion,flobuk,iaptic,purple"), (13, "flobuk,iaptic")])
  func replay(seed: UInt64, providers: String) throws {
    var nights = try Nights(seed: seed, providers: providers)
    let program = nights.world.program
    var day = 30
    var night = 0
    while !nights.waiting.isEmpty {
      night += 1
      let count = nights.random.below(12)
      try program.folder.write(
        Array(nights.next(count).joined(separator: [UInt8(ascii: "\n")])) + [10],
        to: "in/\(String(night + 100)).jsonl")
      // Some nights are missed, some come twice, and the last is long after.
      day += [0, count * 7, count * 7, count * 7 + 1][nights.random.below(4)]
      if nights.waiting.isEmpty { day += 70 }
      let asOf = Calendar(identifier: .gregorian).instant(daysAfter: nights.world.asOf, day - 400)
      try run(program, "nights", asOf)
      try? FileManager.default.removeItem(atPath: program.folder.path("whole.sqlite"))
      try run(program, "whole", asOf)
      let (told, whole) = (
        try cells(program.folder.path("nights.sqlite")),
        try cells(program.folder.path("whole.sqlite"))
      )
      for (table, rows) in whole {
        let ours = told[table] ?? []
        #expect(
          ours == rows,
          "night \(night) at \(asOf): \(table) \(Set(ours).symmetricDifference(rows).prefix(4))")
      }
      // What was resolved only the nights can know.
      let reports = differences(try timeless(program, "nights"), try timeless(program, "whole"))
        .filter { $0 != "breaks.csv" }
      #expect(reports.isEmpty, "night \(night) at \(asOf)")
    }
    #expect(night > 5)
  }

  private func run(_ program: Program, _ name: String, _ asOf: String) throws {
    let result = try program.run([
      "run", "--archives", "in", "--config", "world/subledger.yaml", "--as-of", asOf, "--ledger",
      "\(name).sqlite", "--out", name,
    ])
    try #require([0, 1].contains(result.status), "\(result)")
  }
}

extension Calendar {
  /// RFC 3339 text of an instant that lies `days` days after another.
  func instant(daysAfter text: String, _ days: Int) -> String {
    let format = ISO8601DateFormatter()
    let start = format.date(from: text) ?? Date(timeIntervalSince1970: 0)
    return format.string(from: start.addingTimeInterval(Double(days) * 86_400))
  }
}
