import Foundation
import Testing

/// The monthly numbers of published sets, as a reader of their CSV files records them, and what
/// `restatements.csv` of the next set must contain.
struct PublishedNumbers {
  /// A row of a report, found again in the next set by this key.
  struct Key: Hashable {
    let report: String
    let period: String
    let key: String
  }

  typealias Row = [String: String]
  typealias Rows = [Key: Row]

  /// The records of a reader in one time zone.
  private struct Memory {
    /// Rows as they last were when complete.
    var complete: Rows = [:]
    /// Rows that were shown but never complete, so that they are not new when they become complete.
    var open: Set<Key> = []
    /// Report, period, provider and app with complete rows.
    var settled: Set<[String]> = []
    var closes: [String: (run: Int, rows: Rows)] = [:]
  }

  private var memories: [String: Memory] = [:]
  /// The records before the first of several equal runs.
  private var before: [String: Memory] = [:]
  private var sets: [Int: Rows] = [:]
  /// How many cells led from one number to another.
  private(set) var bridged = 0

  static let reports: [String: [String]] = [
    "revenue_monthly": [
      "provider", "app_id", "store", "product_id", "product_type", "charge_kind", "country",
      "storefront", "currency", "proceeds_rate", "amount_basis",
    ],
    "churn_monthly": productKey, "mrr_monthly": productKey, "trials_monthly": productKey,
    "renewals_monthly": productKey + ["renewal_ordinal"], "quality_monthly": productKey,
    "excluded_monthly": ["provider", "app_id", "reason"],
    "retention_monthly": ["cohort"] + productKey + ["period_index"],
  ]
  private static let productKey = ["provider", "app_id", "store", "product_id"]

  /// The closed months of a zone.
  func closed(in zone: String) -> [String] { (memories[zone]?.closes ?? [:]).keys.sorted() }

  /// Records that the numbers of a month are frozen as of `run`.
  mutating func close(_ month: String, in zone: String, with run: Int) {
    memories[zone, default: Memory()].closes[month] = (run, of(month, in: sets[run] ?? [:]))
    before[zone, default: Memory()].closes = memories[zone]?.closes ?? [:]
  }

  mutating func reopen(_ month: String, in zone: String) {
    memories[zone]?.closes[month] = nil
    before[zone]?.closes[month] = nil
  }

  /// Compares the set of a run with the records, cell by cell, and updates them.
  mutating func read(_ program: Program, _ publication: Season.Publication) throws {
    let (run, zone) = (publication.run, publication.zone)
    let now = try rows(of: program)
    sets[run] = now
    if !publication.isRepetition { before = memories }
    let reported = try restatements(of: program)
    try bridge(reported, to: now, run)
    let memory = before[zone] ?? Memory()
    var changed: Set<[String]> = []
    for (key, row) in now { changed.formUnion(changes(key, row, now, memory)) }
    for key in memory.complete.keys where now[key] == nil {
      changed.formUnion(changes(key, nil, now, memory))
    }
    for close in memory.closes.values {
      for key in close.rows.keys where now[key] == nil {
        changed.formUnion(changes(key, nil, now, memory))
      }
    }
    let lines = Set(reported.map { [$0.key.report, $0.key.period, $0.key.key, $0.column] })
    #expect(lines.count == reported.count, "run \(run): a cell is restated twice")
    let untold = changed.subtracting(lines).map { $0.joined(separator: " ") }.sorted()
    let needless = lines.subtracting(changed).filter { line in
      // A month can be complete before its first row appears, and after its last one vanished.
      let key = Key(report: line[0], period: line[1], key: line[2])
      return memory.closes[line[1]] != nil || memory.complete[key] != nil && now[key] != nil
    }.map { $0.joined(separator: " ") }.sorted()
    #expect(untold.isEmpty, "run \(run): not told \(untold.first ?? "")")
    #expect(needless.isEmpty, "run \(run): told without need \(needless.first ?? "")")
    remember(now, zone)
  }

  private struct Line {
    let key: Key
    let column: String
    let row: Row
  }

  private func restatements(of program: Program) throws -> [Line] {
    try program.rows("restatements.csv").map { row in
      Line(
        key: Key(
          report: row["report"] ?? "", period: row["period"] ?? "", key: row["key"] ?? ""),
        column: row["column"] ?? "", row: row)
    }
  }

  /// Checks that published number plus difference equals the current one, for the run named.
  private mutating func bridge(_ reported: [Line], to now: Rows, _ run: Int) throws {
    for line in reported {
      let name = "run \(run): \(line.row.sorted { $0.key < $1.key }.map(\.value))"
      let (then, restated) = (line.row["published"] ?? "", line.row["restated"] ?? "")
      let shown = value(line.column, now[line.key], like: restated)
      #expect(shown == restated, "\(name)")
      let earlier = try #require(Int(line.row["published_by_run"] ?? ""))
      let published = sets[earlier]?[line.key]
      #expect(value(line.column, published, like: then) == then, "\(name)")
      guard let (from, to) = both(then, restated) else {
        #expect(line.row["delta"] == "", "\(name)")
        continue
      }
      let delta = try #require(Decimal(string: line.row["delta"] ?? ""), "\(name)")
      #expect(from + delta == to, "\(name)")
      bridged += 1
    }
  }

  private func both(_ then: String, _ now: String) -> (Decimal, Decimal)? {
    guard !then.isEmpty, !now.isEmpty, let from = Decimal(string: then),
      let to = Decimal(string: now)
    else { return nil }
    return (from, to)
  }

  /// A cell of a row; without a row, the zero of its type.
  private func value(_ column: String, _ row: Row?, like text: String) -> String {
    row?[column] ?? (column.contains("rate") ? "" : text == "0" ? "0" : "0.00")
  }

  /// The cells of a row that must be restated: since its month was closed, otherwise since it was
  /// last complete.
  private func changes(_ key: Key, _ row: Row?, _ now: Rows, _ memory: Memory) -> [[String]] {
    let then: Row?
    if let close = memory.closes[key.period] {
      then = close.rows[key]
    } else {
      guard key.report != "quality_monthly", key.report != "excluded_monthly" else { return [] }
      then = memory.complete[key]
      let feed = feed(key, row ?? then ?? [:])
      if let row {
        let isNews = memory.open.contains(key) || !memory.settled.contains(feed)
        guard row["is_complete"] == "true", then != nil || !isNews else { return [] }
      } else {
        // A row has vanished if its feed's other rows are complete, and is still missing while they
        // are open.
        guard now.contains(where: { isComplete($0, feed) }) else { return [] }
      }
    }
    let keys = Self.reports[key.report] ?? []
    let columns = Set((then ?? [:]).keys).union((row ?? [:]).keys)
      .subtracting(keys + ["period", "is_complete"])
    return columns.filter { differ($0, then?[$0], row?[$0]) }
      .map { [key.report, key.period, key.key, $0] }
  }

  /// Whether two numbers differ; without a row counts are 0, and rates unknown.
  private func differ(_ column: String, _ one: String?, _ other: String?) -> Bool {
    guard let one, let other else {
      return !(column.contains("rate") ? [""] : ["0", "0.00"]).contains(one ?? other ?? "")
    }
    return one != other
  }

  private func feed(_ key: Key, _ row: Row) -> [String] {
    [key.report, key.period, row["provider"] ?? "", row["app_id"] ?? ""]
  }

  private func isComplete(_ row: (key: Key, value: Row), _ feed: [String]) -> Bool {
    row.value["is_complete"] == "true" && self.feed(row.key, row.value) == feed
  }

  private mutating func remember(_ now: Rows, _ zone: String) {
    var memory = before[zone] ?? Memory()
    for key in memory.complete.keys where now[key] == nil {
      let feed = feed(key, memory.complete[key] ?? [:])
      if now.contains(where: { isComplete($0, feed) }) { memory.complete[key] = nil }
    }
    memory.open = []
    for (key, row) in now {
      if row["is_complete"] == "true" {
        memory.complete[key] = row
        memory.settled.insert(feed(key, row))
      } else if memory.complete[key] == nil {
        memory.open.insert(key)
      }
    }
    memories[zone] = memory
  }

  private func of(_ month: String, in rows: Rows) -> Rows {
    rows.filter { $0.key.period == month }
  }

  private func rows(of program: Program) throws -> Rows {
    var rows: Rows = [:]
    for (report, keys) in Self.reports {
      for row in try program.rows("\(report).csv") {
        let key = keys.map { row[$0] ?? "" }.joined(separator: ",")
        rows[Key(report: report, period: period(row), key: key)] = row
      }
    }
    return rows
  }

  /// The month of a row.
  private func period(_ row: Row) -> String {
    guard let cohort = row["cohort"], let later = row["period_index"].flatMap({ Int($0) }) else {
      return row["period"] ?? ""
    }
    let parts = cohort.split(separator: "-").compactMap { Int($0) }
    let month = parts[0] * 12 + parts[1] - 1 + later
    let digits = String(month % 12 + 1)
    return "\(month / 12)-\(digits.count == 1 ? "0" : "")\(digits)"
  }
}
