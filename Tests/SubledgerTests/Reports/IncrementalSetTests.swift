import Foundation
import TestSupport
import Testing

@Suite("A run with new archives publishes what a reproduction from the ledger gives")
struct IncrementalSetTests {
  @Test(
    "The set has the same bytes, even after published files were changed or removed",
    arguments: [
      [], ["--csv-dialect", "excel", "--amount-decimals", "2"], ["--csv-dialect", "excel-de"],
    ])
  func sameAsReproduced(options: [String]) throws {
    let runs = try SteadyRuns(options: options)
    // The runs around the change show how files are written.
    for run in (options.isEmpty ? 0 : 4)..<runs.count {
      try runs.publish(run)
      let daily = runs.world.program.folder.path("reports/revenue_daily/2025-01.csv")
      let number = options.isEmpty ? run + 1 : run - 3
      #expect(try runs.publishedIsReproduced(run: number), "run \(number)")
      let monthly = runs.world.program.folder.path("reports/churn_monthly.csv")
      if run == 5 {
        try "period\n2025-01-01\n".write(toFile: daily, atomically: true, encoding: .utf8)
        let churn = try String(contentsOfFile: monthly, encoding: .utf8)
        try churn.replacing("2025-01", with: "2025-02")
          .write(toFile: monthly, atomically: true, encoding: .utf8)
      }
      if run == 6 {
        try FileManager.default.removeItem(atPath: daily)
        try FileManager.default.removeItem(atPath: monthly)
      }
    }
  }

  @Test("A set with other decimals is written completely")
  func otherDecimals() throws {
    let runs = try SteadyRuns(options: [])
    for run in 2..<4 { try runs.publish(run) }
    try runs.publish(4, ["--amount-decimals", "1"])
    #expect(try runs.publishedIsReproduced(run: 3))
  }
}

@Suite("A night without input folds again what its as-of changes")
struct RulesOfAsOfTests {
  private let program: Program

  init() throws { program = try Program() }

  private func event(_ day: Int, hour: Int = 0, id: Int, product: String = "coins") -> String {
    var body = Body(id, "in_app_purchase", at: Body.seconds(day) + hour * 3_600)
    body.members["product_id"] = "\"\(product)\""
    return body.line + "\n"
  }

  private func night(_ asOf: String) throws {
    try program.run(["run", "--archives", "in", "--as-of", asOf, "--ledger", "l"]).ended(0, 1)
    try program.run(["verify", "--ledger", "l", "--replay"]).ended(0)
  }

  @Test("The price book's period of a base plan applies from its day on")
  func period() throws {
    try program.folder.write(
      "prices: p.csv\nfreshness_max: 90d\nperiods: {pro: P1Y}\n", to: "subledger.yaml")
    try program.folder.write(
      "store,product_id,country,currency,valid_from,amount,amount_usd,proceeds_rate,period\n"
        + "play_store,pro:monthly,,USD,2026-01-20,9.99,9.99,85,P1M\n", to: "p.csv")
    var body = Body("subscription_started", of: "Ada", 3, id: 100, until: 34)
    body.members["product_id"] = "\"pro:monthly\""
    body.members["platform"] = "\"Android\""
    try program.folder.write(body.line + "\n", to: "in/a.jsonl")
    try night("2026-01-15")
    #expect(try program.rows("mrr_monthly.csv").map { $0["new"] } == ["0.8325"])
    try night("2026-01-25")
    #expect(try program.rows("mrr_monthly.csv").map { $0["new"] } == ["9.99"])
  }

  @Test("A message far from all others is found once there are enough, whenever the feed began")
  func lonely() throws {
    try program.folder.write(
      "freshness_max: 900d\nhistory_begins: 2022-01-01\n", to: "subledger.yaml")
    let lone = event(-1_095, id: 1)
    try program.folder.write(
      lone + (1...9).map { event(0, hour: $0 * 2, id: 10 + $0) }.joined(), to: "in/a.jsonl")
    try night("2026-01-03")
    #expect(try program.rows("breaks.csv").filter { $0["code"] == "CLOCK" }.isEmpty)
    try program.folder.write(
      (1...3).map { event(2, hour: $0, id: 30 + $0) }.joined(), to: "in/b.jsonl")
    try night("2026-01-04")
    #expect(try program.rows("breaks.csv").filter { $0["code"] == "CLOCK" }.count == 1)
  }
}

/// A world of ten months that arrives in parts with the same options, some lines months late.
private struct SteadyRuns {
  let world: World
  let count = 9
  private let options: [String]

  init(options: [String]) throws {
    self.options = options
    world = try World(
      seed: 11, subscribers: 80, months: 10, lost: 0, archives: 1,
      more: ["--duplicated", "20000", "--delayed", "20000"])
    let archive = try world.archives()[0].path
    let lines = try String(decoding: gzip("-dc", archive), as: UTF8.self).split(separator: "\n")
    var pieces = [String](repeating: "", count: count)
    for (index, line) in lines.enumerated() {
      let own = index * count / lines.count
      let late = index % 97 == 0 ? 3 : 0
      pieces[min(count - 1, own + late)] += line + "\n"
    }
    for (run, piece) in pieces.enumerated() {
      try world.program.folder.write(piece, to: "pieces/\(run).jsonl")
    }
  }

  /// Runs the job a month later with one more archive; the first time with all so far.
  func publish(_ run: Int, _ more: [String] = []) throws {
    let folder = world.program.folder
    for piece in 0...run
    where !FileManager.default.fileExists(atPath: folder.path("arrived/\(piece).jsonl")) {
      let lines = try String(contentsOfFile: folder.path("pieces/\(piece).jsonl"), encoding: .utf8)
      try folder.write(lines, to: "arrived/\(piece).jsonl")
    }
    let month = run + 2
    try world.program.run(
      [
        "run", "--ledger", "l.sqlite", "--archives", "arrived", "--config",
        "world/subledger.yaml", "--as-of", "2025-\(month < 10 ? "0" : "")\(month)-05",
      ] + options + more
    ).ended(0, 1)
  }

  /// Whether the published set equals the one that the ledger reproduces in an empty folder.
  func publishedIsReproduced(run: Int) throws -> Bool {
    let program = world.program
    try? FileManager.default.removeItem(atPath: program.folder.path("anew"))
    try program.run(
      ["report", "--ledger", "l.sqlite", "--at-run", "\(run)", "--out", "anew"]).ended(0, 1)
    return try program.published() == program.published(in: "anew")
  }
}
