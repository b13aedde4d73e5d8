import Foundation
import TestSupport
import Testing
import Domain

@testable import EventStore
@testable import Pipeline

@Suite("The sum of all groups needs bounded memory") struct FullFoldTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("Spilled revenue gives the same sums as revenue in memory", arguments: [0, 7, 90])
  func sameCells(cellsMax: Int) throws {
    let expected = try cells(of: folds(seed: 3), cellsMax: .max)
    #expect(expected.days.count > 100 && expected.months.count > 10)
    let (days, months) = try cells(of: folds(seed: 3), cellsMax: cellsMax)
    #expect(days == expected.days)
    #expect(months == expected.months)
  }

  @Test("A sum out of range is carried, even when it was spilled")
  func overflow() throws {
    var parts = folds(seed: 5)
    for index in parts.indices {
      for key in parts[index].facts.revenue.keys {
        parts[index].facts.revenue[key]?.grossUSD.sum = Amount(micros: PartialSum.sumMax - 1)
        parts[index].facts.revenue[key]?.proceedsUSD.sum = Amount(micros: -PartialSum.sumMax)
      }
    }
    let expected = try cells(of: parts, cellsMax: .max)
    #expect(expected.months.contains { row in row.contains { $0 >= PartialSum.carry } })
    #expect(expected.months.contains { row in row.contains { $0 <= -PartialSum.carry } })
    let (days, months) = try cells(of: parts, cellsMax: 0)
    #expect(days == expected.days)
    #expect(months == expected.months)
  }

  /// The rows of both revenue tables after `parts` were summed and stored.
  private func cells(
    of parts: [FoldResult], cellsMax: Int
  ) throws -> (days: [[Int64]], months: [[Int64]]) {
    let path = folder.path("\(UUID().uuidString).sqlite")
    let ledger = try Ledger.open(path: path, mode: .readWrite)
    var sum = FullFold(ledger: ledger, revenueCellsMax: cellsMax)
    for part in parts { try sum.add(part.facts.revenue) }
    try sum.finish()
    #expect((sum.revenueSpill == nil) == (cellsMax == .max))
    let basis = FactCheckpoint(asOf: Instant(seconds: 0), rules: "", archive: 0)
    var change = FoldChange(basis: basis, facts: sum.result.facts)
    change.revenueSpill = sum.revenueSpill
    for piece in try ledger.begin(change) { try ledger.write(piece(), of: change) }
    try ledger.finish(change)
    func rows(_ table: String) throws -> [[Int64]] {
      try ledger.access("read \(table)") { database in
        var rows: [[Int64]] = []
        try Statement(database, "select * from \(table)").forEachRow { row in
          rows.append((0..<row.columnCount).map { row.int64($0) })
        }
        return rows
      }
    }
    return (try rows("revenue_cell"), try rows("revenue_month_cell"))
  }

  /// Ten results with shared cells, one of them without any measure.
  private func folds(seed: UInt64) -> [FoldResult] {
    var numbers = SeededNumbers(seed: seed)
    return (0..<10).map { _ in
      var result = FoldResult()
      for _ in 0..<40 {
        let key = RevenueKey(
          day: Day(number: Int32.random(in: 20_000..<20_070, using: &numbers)),
          productKey: ProductKey(
            provider: .qonversion, app: 1, store: .appStore,
            product: StringID.random(in: 1..<5, using: &numbers)),
          productType: .subscription, chargeKind: .renewal, country: 2, storefront: 0,
          currency: 3, rate: nil, basis: .provider)
        var sums = RevenueSums()
        sums.charges = Int64.random(in: 0..<3, using: &numbers)
        sums.grossUSD.sum = Amount(micros: Int64.random(in: -9...9, using: &numbers))
        sums.proceedsLocal.unknown = Int64.random(in: 0..<2, using: &numbers)
        result.facts.revenue[key] = sums
      }
      return result
    }
  }
}
