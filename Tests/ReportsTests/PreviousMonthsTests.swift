import Foundation
import EventStore
@testable import Reports
import TestSupport
import Testing
import Domain

@Suite("Unchanged months of daily revenue keep the files of the previous set")
struct PreviousMonthsTests {
  private let world: World
  private let previous: PreviousMonths

  /// A set with a charge in January, February and March, of which January and February are
  /// complete; since then the cells have two of each.
  init() throws {
    world = try World()
    try world.hear(until: day(2026, 3, 10))
    for month in 1...3 { try world.sell(1, month: month) }
    try world.fold()
    let staging = try Staging.begin(for: world.folder.path("out"))
    let plan = ReportPlan(rules: world.rules, run: 1)
    let reports = try writeReports(from: world.ledger, plan: plan, into: staging.path)
    var manifest = Manifest(version: "1", asOf: world.rules.asOf, timeZone: "UTC")
    manifest.resources = reports.tables
    _ = try publish(try staging.sealed(by: manifest, of: reports))
    let sha256 = try #require(try publishedSet(in: world.folder.path("out")))
    previous = try #require(
      try PreviousMonths(
        publishedIn: world.folder.path("out"), sha256: sha256, in: .rfc4180, open: march))
    for month in 1...3 { try world.sell(2, month: month) }
    try world.fold()
  }

  private let march = Month(number: 2026 * 12 + 2)

  /// The months that the next set carries over.
  private func carried(_ previous: PreviousMonths) throws -> [String] {
    var plan = ReportPlan(rules: world.rules, run: 2)
    plan.previous = previous
    let folder = world.folder.path("reports")
    try FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let writer = try ReportWriter(from: world.ledger, plan: plan, into: folder)
    let tables = try writer.write(.revenueByDay).tables
    #expect(tables.map(\.path) == (1...3).map { "revenue_daily/2026-0\($0).csv" })
    return try tables.filter { table in
      let charges = try world.rows(table.path).map { $0["charges"] }
      #expect(charges == [table.controlTotals["charges"]])
      return charges == ["1"]
    }.map(\.path)
  }

  private func adding(_ charges: Int64, month: Int) throws -> PreviousMonths {
    var revenue: [RevenueKey: RevenueSums] = [:]
    for key in world.facts.revenue.keys where key.day.date.month == month {
      revenue[key] = RevenueSums()
      revenue[key]?.charges = charges
    }
    try #require(revenue.count == 1)
    return previous.adding(revenue)
  }

  private let january = "revenue_daily/2026-01.csv"
  private let february = "revenue_daily/2026-02.csv"

  @Test("Complete months before the first change are carried over; sums of zero are no change")
  func complete() throws {
    #expect(try carried(previous) == [january, february])
    #expect(try carried(adding(0, month: 2)) == [january, february])
    #expect(try carried(adding(1, month: 2)) == [january])
    #expect(try carried(adding(1, month: 1)) == [])
  }

  @Test("Every file must still have its hash, or only one written after the checksums")
  func changed() throws {
    let out = world.folder.path("out")
    let sha256 = try #require(try publishedSet(in: out))
    let files = FileManager.default
    let written = try files.attributesOfItem(atPath: "\(out)/SHA256SUMS")[.modificationDate]
    let checksums = try #require(written as? Date)
    func months(writtenAt time: TimeInterval, isRead: Bool = false) throws -> PreviousMonths? {
      try files.setAttributes(
        [.modificationDate: checksums + time], ofItemAtPath: "\(out)/\(january)")
      return try PreviousMonths(
        publishedIn: out, sha256: sha256, in: .rfc4180, open: march, isRead: isRead)
    }
    let content = try String(contentsOfFile: "\(out)/\(january)", encoding: .utf8)
    #expect(try months(writtenAt: 60) != nil)
    try (content + content).write(toFile: "\(out)/\(january)", atomically: false, encoding: .utf8)
    #expect(try months(writtenAt: 60) == nil)
    #expect(try months(writtenAt: -60) != nil)
    #expect(try months(writtenAt: -60, isRead: true) == nil)
  }

  @Test("A month that is no longer complete is written")
  func openAgain() throws {
    world.rules.asOf = day(2026, 2, 10)
    try world.hear(until: day(2026, 2, 10))
    #expect(try carried(previous) == [january])
  }
}
