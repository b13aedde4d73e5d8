import Foundation
import TestSupport
import Testing

@Suite("A night leaves the days and months alone that it cannot have changed")
struct CarriedDaysTests {
  @Test(
    "Files and rows that are carried over are those that writing everything anew gives",
    arguments: [[], ["--csv-dialect", "excel", "--amount-decimals", "2"]])
  func sameAsAnew(options: [String]) throws {
    let nights = try SteadyNights(options: options)
    var (carried, reports) = (0, 0)
    for night in 0..<nights.count {
      let told = try nights.live(night)
      carried += told.carried
      reports += told.reports
      let damaged = nights.world.program.folder.path("reports/revenue_daily/2025-01.csv")
      #expect(try nights.publishedIsAnew(run: night + 1), "night \(night)")
      // What people do to a published file must not come back.
      let monthly = nights.world.program.folder.path("reports/churn_monthly.csv")
      if night == 5 {
        try "period\n2025-01-01\n".write(toFile: damaged, atomically: true, encoding: .utf8)
        let churn = try String(contentsOfFile: monthly, encoding: .utf8)
        try churn.replacing("2025-01", with: "2025-02")
          .write(toFile: monthly, atomically: true, encoding: .utf8)
      }
      if night == 6 {
        try FileManager.default.removeItem(atPath: damaged)
        try FileManager.default.removeItem(atPath: monthly)
      }
    }
    #expect(carried > nights.count)
    // Cells that are rounded, or marked for a spreadsheet, are made anew.
    #expect(options.isEmpty ? reports > nights.count : reports == 0)
  }

  @Test("Other decimals are other files")
  func otherDecimals() throws {
    let nights = try SteadyNights(options: [])
    for night in 0..<4 { try nights.live(night) }
    let rounded = try nights.live(4, ["--amount-decimals", "1"])
    #expect(rounded.carried == 0)
    #expect(rounded.reports == 0)
    #expect(try nights.publishedIsAnew(run: 5))
  }
}

/// A world of ten months that arrives in pieces by the same options, some lines months late.
private struct SteadyNights {
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
      let told = index * count / lines.count
      let late = index % 97 == 0 ? 3 : 0
      pieces[min(count - 1, told + late)] += line + "\n"
    }
    for (night, piece) in pieces.enumerated() {
      try world.program.folder.write(piece, to: "pieces/\(night).jsonl")
    }
  }

  /// Lives through a night; says how many files by day were carried over, and of how many reports
  /// by month some rows.
  @discardableResult
  func live(_ night: Int, _ more: [String] = []) throws -> (carried: Int, reports: Int) {
    let folder = world.program.folder
    let piece = try String(contentsOfFile: folder.path("pieces/\(night).jsonl"), encoding: .utf8)
    try folder.write(piece, to: "arrived/\(night).jsonl")
    let month = night + 2
    let result = try world.program.run(
      [
        "run", "--ledger", "l.sqlite", "--archives", "arrived", "--config",
        "world/subledger.yaml", "--as-of", "2025-\(month < 10 ? "0" : "")\(month)-05", "--verbose",
      ] + options + more)
    try #require([0, 1].contains(result.status), "\(result)")
    let carried = result.errors.firstMatch(of: /over ([0-9]+) files by day, and .* ([0-9]+) rep/)
    return (carried.flatMap { Int($0.1) } ?? 0, carried.flatMap { Int($0.2) } ?? 0)
  }

  /// Whether the published set is the one that the ledger tells anew into an empty folder.
  func publishedIsAnew(run: Int) throws -> Bool {
    let program = world.program
    try? FileManager.default.removeItem(atPath: program.folder.path("anew"))
    let again = try program.run(
      ["report", "--ledger", "l.sqlite", "--as-known-at", "\(run)", "--out", "anew"])
    try #require([0, 1].contains(again.status), "\(again)")
    return try program.published() == program.published(in: "anew")
  }
}
