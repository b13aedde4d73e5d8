import EventStore
import Testing
import Domain

@testable import Reports

@Suite("Stored rows of a report")
struct RowShapeTests {
  private let shape = RowShape(.revenueMonthly)

  private func cells(_ named: [String: LedgerValue]) -> [LedgerValue] {
    shape.definition.columns.map { named[$0.name] ?? ($0.isKey ? .null : .integer(0)) }
  }

  @Test("A stored row has the cells it was created from")
  func roundTrip() throws {
    let month = Month(number: 2026 * 12)
    for number in [0, 1, -1, 1 << 40, .max, .min] as [Int64] {
      let row = cells([
        "period": .integer(Int64(month.number)), "product_id": .text("a, b\n\u{0}"),
        "country": .integer(number), "gross_usd": .integer(number), "net_usd": .null,
        "proceeds_local": .null, "is_complete": .integer(1),
      ])
      let stored = shape.row(row)
      #expect(shape.cells(of: stored, month) == row)
      #expect(shape.month(of: row) == month)
    }
  }

  @Test("Rows of products that only look alike have different keys")
  func alike() {
    let keys = ["caf\u{e9}", "cafe\u{301}", "", "\u{61a}"].map {
      shape.row(cells(["product_id": .text($0)])).key
    }
    #expect(Set(keys).count == keys.count)
  }

  @Test("Truncated bytes are not a row")
  func damaged() {
    let row = shape.row(cells(["app_id": .integer(1 << 40)]))
    for length in 0..<row.key.count {
      #expect(ReportRow.decode(Array(row.key.prefix(length)))?.count != shape.keys.count)
    }
  }

  @Test("A row's feed and product are found by symbols or by words")
  func product() throws {
    let world = try World()
    let product = try world.productKey("pro", app: "app", provider: .iaptic)
    let (app, name) = (Int64(product.app), Int64(product.product))
    let row = shape.row(
      cells([
        "provider": .integer(Int64(Provider.iaptic.rawValue)), "app_id": .integer(app),
        "product_id": .integer(name),
      ]))
    let ledger = try Ledger.open(path: world.ledger.path, mode: .readOnly)
    let expected = PublishedProduct(
      feed: Feed(provider: .iaptic, app: product.app), product: product.product)
    #expect(try shape.product(of: row.key, in: ledger) == expected)
    let words = shape.row(
      cells(["provider": .text("iaptic"), "app_id": .text("app"), "product_id": .text("pro")]))
    #expect(try shape.product(of: words.key, in: ledger) == expected)
    let unknown = shape.row(cells(["app_id": .text("other")]))
    #expect(try shape.product(of: unknown.key, in: ledger).feed == nil)
  }
}
