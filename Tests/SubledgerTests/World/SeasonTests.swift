import Foundation
import EventStore
import TestSupport
import Testing

@Suite("With closes, several runs, one run over everything and published sets agree")
struct SeasonTests {
  /// Seeds, and runs of each: few by default, many with `SEASONS=1-100 NIGHTS=30`.
  private static let seeds: ClosedRange<UInt64> = {
    let bounds = (ProcessInfo.processInfo.environment["SEASONS"] ?? "").split(separator: "-")
      .compactMap { UInt64($0) }
    guard let first = bounds.first, let last = bounds.last, first <= last else { return 1...2 }
    return first...last
  }()
  private static let runs =
    Int(ProcessInfo.processInfo.environment["NIGHTS"] ?? "").map { max(2, $0) } ?? 5

  @Test(
    "In any order of input, cells equal a replay, differences add up, and sets are reproduced",
    arguments: seeds)
  func season(seed: UInt64) throws {
    var season = try Season(seed: seed)
    var numbers = PublishedNumbers()
    var sets: [[String: Data]] = []
    while !season.isOver {
      let publication = try season.live(of: Self.runs)
      sets.append(publication.files)
      try compareWithReplay(season, seed)
      try numbers.read(season.program, publication)
      try act(&season, publication, &numbers)
    }
    let program = season.program
    for (index, published) in sets.enumerated() {
      let again = try program.run(
        ["report", "--ledger", "l.sqlite", "--at-run", "\(index + 1)", "--out", "again"])
      #expect([0, 1].contains(again.status), "seed \(seed), run \(index + 1): \(again)")
      let different = differences(published, try program.published(in: "again"))
      #expect(different.isEmpty, "seed \(seed), run \(index + 1)")
    }
    let proof = try program.run(["verify", "--ledger", "l.sqlite", "--replay"])
    #expect(proof.status == 0, "seed \(seed): \(proof)")
    // In the short seasons of other seeds, some restate nothing.
    if seed <= 2 { #expect(numbers.bridged > 0, "seed \(seed): nothing was restated") }
  }

  /// Compares cells, rates, prices, breaks and reports with those of one run over everything so
  /// far.
  private func compareWithReplay(_ season: Season, _ seed: UInt64) throws {
    try season.replay()
    let reported = try cells(season.program.folder.path("l.sqlite"))
    for (table, rows) in try cells(season.program.folder.path("whole.sqlite")) {
      let other = (reported[table] ?? []).difference(from: rows).map { "\($0)" }.sorted()
      #expect(
        other.isEmpty, "seed \(seed), night \(season.round): \(table) \(other.first ?? "")")
    }
    let reports = differences(
      try timeless(season.program, withPlaces: true),
      try timeless(season.program, "whole", withPlaces: true))
    // Only the separate runs contain resolved breaks.
    #expect(
      reports.filter { $0 != "breaks.csv" }.isEmpty, "seed \(seed), night \(season.round)")
  }

  /// Closes a month of the last half year, or reopens one.
  private func act(
    _ season: inout Season, _ publication: Season.Publication, _ numbers: inout PublishedNumbers
  ) throws {
    let (program, zone) = (season.program, publication.zone)
    let closed = numbers.closed(in: zone)
    if season.random.isOne(in: 3) {
      let day = season.instant(max(0, season.today - season.random.below(180)))
      let month = String(day.prefix(7))
      let force = season.random.isOne(in: 2)
      let result = try program.run(
        ["close", month, "--ledger", "l.sqlite"] + (force ? ["--force", "--reason", "books"] : []))
      switch result.status {
      case 0: numbers.close(month, in: zone, with: publication.run)
      case 64:
        let mayClose = !result.errors.contains("has a row of it") && !closed.contains(month)
        #expect(!mayClose || !force && result.errors.contains("with reservations"))
      default: #expect(result.status == 75 && !force, "\(result)")
      }
    }
    if season.random.isOne(in: 5), !closed.isEmpty {
      let month = season.random.one(of: closed)
      try program.run(
        ["reopen", month, "--ledger", "l.sqlite", "--reason", "belongs there"]).ended(0)
      numbers.reopen(month, in: zone)
    }
  }
}
