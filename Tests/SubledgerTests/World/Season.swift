import Foundation
import TestSupport
import Testing

/// Four hundred days that four providers report, run by run: late, twice, changed, with snapshots
/// at any time, while people make decisions, change settings, close and reopen months.
struct Season {
  /// The arguments of one run, and what it published.
  struct Publication {
    let run: Int
    let asOf: Day
    let zone: String
    /// Whether its arguments and input equal those of the previous run.
    let isRepetition: Bool
    let files: [String: Data]
  }

  /// Days since the start of the world.
  typealias Day = Int

  let world: World
  var random: SeededNumbers
  private(set) var round = 0
  private(set) var today: Day = 20
  private(set) var zone = "UTC"
  private var runs = 0
  private var waiting: [(day: Day, line: String)] = []
  private var arguments: [String] = []

  var program: Program { world.program }
  var isOver: Bool { today > Self.days + 60 }

  private static let days = 424
  private static let zones = ["UTC", "Europe/Berlin", "America/New_York"]
  private static let shapes = ["sdk", "v3", "v4", "purchases", "canonical"]

  init(seed: UInt64) throws {
    var random = SeededNumbers(seed: seed)
    let providers = ["qonversion", "flobuk", "iaptic", "purple"]
    let reported = providers.filter { _ in random.below(4) > 0 }
    world = try World(
      seed: Int(seed), subscribers: 30, months: 14, lost: 10_000, archives: 1,
      more: [
        "--providers", (reported.isEmpty ? providers : reported).joined(separator: ","),
        "--duplicated",
        "40000", "--delayed", "30000", "--enveloped", "600000",
      ])
    let archive = try gzip("-dc", world.archives()[0].path)
    let lines = String(decoding: archive, as: UTF8.self).split(separator: "\n").map(String.init)
    if random.isOne(in: 2) { zone = random.one(of: Self.zones) }
    self.random = random
    for (index, line) in lines.enumerated() {
      let day = index * Self.days / lines.count
      let arrival = self.random.isOne(in: 12) ? late(day) : day
      waiting.append((arrival, line))
      if self.random.isOne(in: 20) { waiting.append((late(day), line)) }
      if self.random.isOne(in: 20) { waiting.append((late(day), changed(line))) }
    }
  }

  /// Performs the next run: archives, snapshots, settings, then the run itself.
  mutating func live(of rounds: Int) throws -> Publication {
    let before = arguments
    let isRepetition = round > 0 && random.isOne(in: 6)
    if !isRepetition {
      round += 1
      today += 1 + random.below(2 * Self.days / rounds)
      if round >= rounds { today = max(today, Self.days + 61 + random.below(30)) }
      try arrive()
      arguments = try settings()
    }
    runs += 1
    try program.run(arguments).ended(0, 1)
    return Publication(
      run: runs, asOf: today, zone: zone, isRepetition: isRepetition && before == arguments,
      files: try program.published())
  }

  /// Publishes everything so far in one run into `whole`, as the last run did.
  func replay() throws {
    try? FileManager.default.removeItem(atPath: program.folder.path("whole.sqlite"))
    let renamed = arguments.map { ["l.sqlite": "whole.sqlite", "reports": "whole"][$0] ?? $0 }
    let reported = renamed + ["--adopt"]
    try program.run(reported).ended(0, 1)
  }

  /// The RFC 3339 text of a day of the season.
  func instant(_ day: Day, seconds: Int = 0) -> String {
    let start = Date(timeIntervalSince1970: 1_735_689_600)
    return ISO8601DateFormatter().string(
      from: start.addingTimeInterval(Double(day * 86_400 + seconds)))
  }

  private mutating func late(_ day: Day) -> Day { day + 1 + random.below(random.below(90) + 1) }

  /// The same event as another version reports it.
  private mutating func changed(_ line: String) -> String {
    switch random.below(3) {
    case 0: line.replacing("\"USD\"", with: "\"EUR\"")
    case 1: line.withOtherDollars
    default: line.madeLater.replacing("\"acct-", with: "\"acct-a")
    }
  }

  private mutating func arrive() throws {
    let (today, isOver) = (today, isOver)
    let lines = waiting.filter { $0.day <= today || isOver }.map(\.line).shuffled(using: &random)
    waiting.removeAll { $0.day <= today || isOver }
    let parts = round == 1 || isOver ? 1 : random.below(3)
    for part in 0..<parts where !lines.isEmpty {
      let share = lines[(lines.count * part / parts)..<(lines.count * (part + 1) / parts)]
      try program.folder.write(
        share.map { $0 + "\n" }.joined(), to: "arrived/\(1000 + round)-\(part).jsonl")
    }
    if parts == 0 { waiting += lines.map { (today + 1, $0) } }
    for shape in ["flobuk", "iaptic", "purple", random.one(of: Self.shapes)]
    where random.isOne(in: 4) {
      try look(shape)
    }
  }

  /// Writes snapshots of some users with their final content, captured about now.
  private mutating func look(_ shape: String) throws {
    let path = program.folder.path("world/snapshots/\(shape)/2026-03-01.jsonl.gz")
    guard FileManager.default.fileExists(atPath: path) else { return }
    let hours = isOver ? 0 : random.below(96) - 72
    let captured = instant(isOver ? Self.days : today, seconds: hours * 3600)
    let users = String(decoding: try gzip("-dc", path), as: UTF8.self).split(separator: "\n")
      .filter { _ in isOver || random.isOne(in: 2) }
    let lines = users.map {
      $0.replacing(/"captured_at":("[^"]*"|[0-9]+)/, with: "\"captured_at\":\"\(captured)\"") + "\n"
    }
    try program.folder.write(lines.joined(), to: "snapshots/\(1000 + round)-\(shape).jsonl")
  }

  private mutating func settings() throws -> [String] {
    let folder = program.folder
    if round == 1 || random.isOne(in: 9) {
      let map = try String(contentsOfFile: folder.path("world/subledger.yaml"), encoding: .utf8)
      let own = "customer_id: identity_id\nrenewal_gap: \(24 + random.below(2))h\n"
      try folder.write(own + map, to: "c.yaml")
    }
    if random.isOne(in: 12) { zone = random.one(of: Self.zones) }
    var arguments = [
      "run", "--ledger", "l.sqlite", "--out", "reports", "--config", "c.yaml", "--timezone", zone,
      "--as-of", instant(today, seconds: random.below(24) * 3600), "--archives", "arrived",
    ]
    try FileManager.default.createDirectory(
      atPath: folder.path("arrived"), withIntermediateDirectories: true)
    if FileManager.default.fileExists(atPath: folder.path("snapshots")) {
      arguments += ["--snapshots", "snapshots"]
    }
    // A world of Qonversion alone needs no price book.
    if let prices = try? String(contentsOfFile: folder.path("world/prices.csv"), encoding: .utf8) {
      if random.isOne(in: 9) {
        try folder.write(prices.replacing("9.99", with: "8.99"), to: "world/prices.csv")
      }
      arguments += ["--prices", "world/prices.csv"]
    }
    if let decisions = try decisions() {
      try folder.write(decisions, to: "decisions.yaml")
      arguments += ["--decisions", "decisions.yaml"]
    }
    return arguments
  }

  /// Decisions about some of the current breaks.
  private mutating func decisions() throws -> String? {
    guard random.isOne(in: 2), round > 1 else { return nil }
    let ids = try program.rows("breaks.csv").compactMap { $0["break_id"] }
    return ids.filter { _ in random.isOne(in: 3) }.map {
      "- {break_id: \"\($0)\", decision: explained, reason: r, who: w}\n"
    }.joined()
  }
}

extension SeededNumbers {
  mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

  mutating func isOne(in count: Int) -> Bool { below(count) == 0 }

  mutating func one<Element>(of elements: [Element]) -> Element { elements[below(elements.count)] }
}

/// Changed versions of an event's line, as providers send them.
extension String {
  /// The line with another amount in dollars.
  var withOtherDollars: String { replacing(/"value_usd\\?":/, with: { "\($0.0)1" }) }

  /// The line as if created a minute later.
  var madeLater: String {
    replacing(
      /"created_at(\\?)":([0-9]+)/,
      with: { "\"created_at\($0.1)\":\((Int($0.2) ?? 0) + 60)" })
  }
}
