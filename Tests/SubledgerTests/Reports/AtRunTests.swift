import Foundation
import EventStore
import TestSupport
import Testing

@Suite("A published run is reproduced from the ledger alone")
struct AtRunTests {
  @Test("After any runs, every published set is reproduced byte for byte", arguments: [1, 11])
  func everyRun(seed: Int) throws {
    let runs = try RandomRuns.lived(seed: seed)
    let sets = runs.sets
    #expect(sets.count > 5)
    let program = runs.world.program
    let ledger = try Data(contentsOf: URL(fileURLWithPath: program.folder.path("l.sqlite")))
    try FileManager.default.removeItem(atPath: program.folder.path("arrived"))
    for (index, published) in sets.enumerated() {
      let again = try program.run(
        ["report", "--ledger", "l.sqlite", "--at-run", "\(index + 1)", "--out", "again"])
      try #require([0, 1].contains(again.status), "seed \(seed), run \(index + 1): \(again)")
      let different = differences(published, try program.published(in: "again"))
      #expect(different.isEmpty, "seed \(seed), run \(index + 1)")
    }
    let after = try Data(contentsOf: URL(fileURLWithPath: program.folder.path("l.sqlite")))
    #expect(after == ledger)
  }

  @Test("A past as-of with today's data differs from a past run with another as-of")
  func twoTimes() throws {
    let runs = try RandomRuns.lived(seed: 11)
    let sets = runs.sets
    let program = runs.world.program
    let asOf = runs.asOfs[2]
    try program.run(["report", "--ledger", "l.sqlite", "--as-of", asOf, "--out", "today"])
    #expect(!differences(sets[2], try program.published(in: "today")).isEmpty)
    try program.run([
      "report", "--ledger", "l.sqlite", "--at-run", "2", "--as-of", asOf, "--out", "both",
    ]).ended(0, 1)
    let manifest = try program.text(of: "both/datapackage.json")
    #expect(manifest.contains("\"as_of\": \"\(asOf)"))
    #expect(!manifest.contains("night-6.jsonl") && manifest.contains("night-0.jsonl"))
  }

  @Test("A product that was not yet sold has its listed price, even after later runs see sales")
  func soldLater() throws {
    let program = try Program()
    let names = ["com.example.coins", "com.example.gems"]
    try program.folder.write(
      "store,product_id,country,currency,valid_from,amount,amount_usd,proceeds_rate,period\n"
        + ",\(names[0]),,,2026-01-01,,50,,\n,\(names[1]),DE,,2026-01-01,,50,,\n", to: "prices.csv")
    let maps = names.map { "\($0): \($0)" }.joined(separator: ", ")
    try program.folder.write("products: {\(maps)}\nprices: prices.csv\n", to: "subledger.yaml")
    let lines = names.enumerated().map { number, name in
      #"{"user_id":"QON_\#(number)","captured_at":1774000000,"entitlements":[{"id":"e","#
        + #""product_id":"\#(name)","active":true,"source":"appstore","transactions":["#
        + #"{"transaction_id":"7\#(number)","original_transaction_id":"7\#(number)","#
        + #""type":"nonconsumable_purchase","transaction_at":1773000000}]}]}"# + "\n"
    }
    try program.folder.write(lines.joined(), to: "snap/s.jsonl")
    try program.folder.write(bodies(1, from: 5), to: "in/a.jsonl")
    let run = ["run", "--archives", "in", "--snapshots", "snap", "--as-of"]
    try #require([0, 1].contains(program.run(run + ["2026-03-28"]).status))
    let published = try program.published()
    let costs = try program.rows("breaks.csv").filter { $0["code"] == "MISSED_PURCHASE" }
      .sorted { $0["user_id"] ?? "" < $1["user_id"] ?? "" }
    #expect(costs.map { $0["estimated_usd"] } == ["50.00", ""])
    let bought = names.enumerated().map { number, name in
      var body = Body(6 + number)
      body.members["product_id"] = "\"\(name)\""
      body.members["country"] = "\"DE\""
      return body.line + "\n"
    }
    try program.folder.write(bought.joined(), to: "in/b.jsonl")
    try #require([0, 1].contains(program.run(run + ["2026-03-29"]).status))
    try program.run(["report", "--at-run", "1", "--out", "again"]).ended(0, 1)
    #expect(differences(published, try program.published(in: "again")).isEmpty)
  }

  @Test("A base plan named by later events changes no earlier set, and vanishes with them")
  func laterPlan() throws {
    let program = try Program()
    let product = "com.example.pro"
    try program.folder.write("products: {pro: \(product)}\n", to: "subledger.yaml")
    try program.folder.write(
      #"{"user_id":"QON_9","captured_at":1772200000,"data":[{"id":"premium","active":true,"#
        + #""started":1772193600,"expires":1774612800,"source":"playstore","product":"#
        + #"{"product_id":"pro","subscription":{"renew_state":"will_renew","#
        + #""current_period_type":"normal"}}}]}"# + "\n", to: "snap/s.jsonl")
    var sets: [[String: Data]] = []
    for (night, shown) in [product, "\(product):month"].enumerated() {
      var body = Body(night + 1)
      body.members["platform"] = "\"Android\""
      body.members["product_id"] = night == 0 ? "\"coins\"" : "\"\(product)\""
      body.members["subscription_group"] = night == 0 ? "\"\"" : "\"month\""
      try program.folder.write(body.line + "\n", to: "in/\(night).jsonl")
      let run = ["run", "--archives", "in", "--snapshots", "snap", "--as-of", "2026-03-01"]
      try #require([0, 1].contains(program.run(run).status))
      let absent = try program.rows("breaks.csv").filter { $0["code"] == "EVENTS_ABSENT" }
      #expect(absent.map { $0["product_id"] } == [shown])
      sets.append(try program.published())
    }
    for (night, set) in sets.enumerated() {
      let again = try program.run(["report", "--at-run", "\(night + 1)", "--out", "again"])
      #expect([0, 1].contains(again.status), "\(again)")
      #expect(differences(set, try program.published(in: "again")).isEmpty)
    }
    try #require(try program.run(["retract", "1.jsonl", "--reason", "a test"]).status == 0)
    let run = ["run", "--archives", "in", "--snapshots", "snap", "--as-of", "2026-03-01"]
    try #require([0, 1].contains(program.run(run).status))
    let absent = try program.rows("breaks.csv").filter { $0["code"] == "EVENTS_ABSENT" }
    #expect(absent.map { $0["product_id"] } == [product])
  }

  @Test("A set that cannot be reproduced exactly does not replace the published one")
  func otherBytes() throws {
    let program = try RandomRuns.lived(seed: 11).world.program
    let before = try program.published()
    let ledger = try Ledger.open(path: program.folder.path("l.sqlite"), mode: .readWrite)
    try ledger.rows(sql: "update run set published = 'other' where id = 1") { _ in }
    try ledger.checkpoint()
    let result = try program.run(["report", "--ledger", "l.sqlite", "--at-run", "1"]).ended(70)
    #expect(result.errors.contains("cannot reproduce what run 1 published"), "\(result)")
    #expect(differences(before, try program.published()).isEmpty)
    let names = try FileManager.default.contentsOfDirectory(atPath: program.folder.path("."))
    #expect(!names.contains { $0.hasPrefix(".reports.staging-") }, "\(names)")
  }

  @Test("A missing run, or one that has not published, is reported")
  func noSuchRun() throws {
    let program = try RandomRuns.lived(seed: 11).world.program
    let result = try program.run(["report", "--ledger", "l.sqlite", "--at-run", "77"]).ended(64)
    #expect(result.errors.contains("no run 77 of the ledger"))
  }
}

/// The publications of some runs: the as-of of each run, and its files.
struct PublishedRuns {
  var world: World
  var asOfs: [String] = []
  var sets: [[String: Data]] = []
}

/// A world that arrives run by run: late, twice, in equal or different copies, while people make
/// decisions and options change.
struct RandomRuns {
  private var published: PublishedRuns
  private var world: World { published.world }
  private var numbers: SeededNumbers
  private var lines: [(run: Int, line: String)] = []
  private let count = 7

  private static let lived = MadeOnce<[Int], PublishedRuns>()

  /// The first runs of a seed, in a separate folder.
  static func lived(seed: Int, count: Int = 7) throws -> PublishedRuns {
    var published = try lived.value([seed, count]) {
      var runs = try RandomRuns(seed: seed)
      try runs.live(count)
      return runs.published
    }
    published.world = try World(copying: published.world)
    return published
  }

  private init(seed: Int) throws {
    published = PublishedRuns(
      world: try World(
        seed: seed, subscribers: 60, months: 8, lost: 20_000, archives: 1,
        more: ["--duplicated", "50000", "--delayed", "50000", "--enveloped", "500000"]))
    numbers = SeededNumbers(seed: UInt64(seed))
    let archive = try published.world.archives()[0].path
    let all = try String(decoding: gzip("-dc", archive), as: UTF8.self).split(separator: "\n")
    for (index, line) in all.enumerated() {
      let reported = index * (count - 1) / all.count
      let late = below(4) == 0 ? below(3) : 0
      lines.append((reported + late, String(line)))
      if below(5) == 0 { lines.append((reported + late + below(4), copy(of: String(line)))) }
    }
  }

  private mutating func live(_ runs: Int) throws {
    for run in 0..<runs {
      try arrive(run)
      let asOf = "2025-0\(run + 2)-1\(below(9))"
      if below(3) == 0 {
        try world.program.run(
          ["ingest", "--ledger", "l.sqlite", "--archives", "arrived", "--config", "c.yaml"])
      }
      for _ in 0...(below(3) == 0 ? 1 : 0) {
        published.sets.append(try publish(asOf))
        published.asOfs.append(asOf)
      }
    }
  }

  private mutating func arrive(_ run: Int) throws {
    let folder = world.program.folder
    let reported = lines.filter { $0.run == run }.map { $0.line + "\n" }.joined()
    try folder.write(reported, to: "arrived/night-\(run).jsonl")
    if run % 3 == 2 {
      let path = folder.path("world/snapshots/sdk/2025-09-01.jsonl.gz")
      let now = try String(decoding: gzip("-dc", path), as: UTF8.self)
      let then = now.replacing(
        /"captured_at":[0-9]+/, with: "\"captured_at\":\(1_738_368_000 + run * 2_600_000)000")
      try folder.write(then, to: "snapshots/\(run).jsonl")
    }
    let map = try String(contentsOfFile: folder.path("world/subledger.yaml"), encoding: .utf8)
    try folder.write(
      "renewal_gap: \(24 + run % 2)h\nledger: other.sqlite\n" + map, to: "c.yaml")
  }

  private mutating func publish(_ asOf: String) throws -> [String: Data] {
    var arguments = [
      "run", "--ledger", "l.sqlite", "--archives", "arrived", "--config", "c.yaml", "--as-of", asOf,
      "--timezone", ["UTC", "Europe/Berlin", "America/New_York"][below(3)],
    ]
    let folder = world.program.folder
    if FileManager.default.fileExists(atPath: folder.path("snapshots")) {
      arguments += ["--snapshots", "snapshots"]
    }
    if below(4) == 0 { arguments += ["--csv-dialect", "excel", "--amount-decimals", "2"] }
    if let decisions = try decisions() {
      try folder.write(decisions, to: "decisions.yaml")
      arguments += ["--decisions", "decisions.yaml"]
    }
    try folder.write(
      """
      store,product_id,country,currency,valid_from,amount,amount_usd,proceeds_rate,period
      app_store,com.example.pro.monthly,,USD,2025-01-01,9.99,\(9 + below(3)).99,70,P1M

      """, to: "prices.csv")
    if below(3) > 0 { arguments += ["--prices", "prices.csv"] }
    try world.publish(arguments)
    return try world.program.published()
  }

  /// Decisions about some of the current breaks.
  private mutating func decisions() throws -> String? {
    let path = world.program.folder.path("reports/breaks.csv")
    guard below(2) == 0, let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      return nil
    }
    let ids = text.matches(of: /(?m)^(b-[0-9a-f]{16}),/).map { String($0.1) }
    return ids.filter { _ in below(3) == 0 }.map {
      "- {break_id: \"\($0)\", decision: explained, reason: r, who: w}\n"
    }.joined()
  }

  /// The same line, sent again: unchanged, later, or with other money.
  private mutating func copy(of line: String) -> String {
    switch below(4) {
    case 0: line
    case 1: line.withOtherDollars
    default: line.madeLater
    }
  }

  private mutating func below(_ limit: Int) -> Int { numbers.below(limit) }
}
