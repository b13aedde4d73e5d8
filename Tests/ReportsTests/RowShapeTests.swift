import Testing
import Domain

@testable import Reports

@Suite("Rows of a monthly report are told apart by what is printed")
struct RowShapeTests {
  @Test("Rows whose products only look alike are compared each with its own")
  func alike() throws {
    let shape = RowShape(.revenueMonthly)
    let product = try #require(shape.layout.columns.firstIndex { $0.name == "product_id" })
    var rows = ""
    for name in ["caf\u{e9}", "cafe\u{301}", "\"a,\"\"\u{61a}\""] {
      var cells = shape.layout.columns.map { $0.isKey ? "k" : "0" }
      cells[product] = name
      rows += cells.joined(separator: ",") + "\n"
    }
    let read = RowRecord.rows(of: Array(rows.utf8))
    let byKey = shape.byKey(read)
    #expect(read.count == 3 && byKey.count == 3)
    for row in read {
      let own = try #require(byKey[shape.key(of: row)])
      #expect(own.text.isExactly(row.text))
    }
  }

  @Test("A row of a product with a comma is of the feed that an event of it is of")
  func commaInProduct() throws {
    let shape = RowShape(.revenueMonthly)
    let names = shape.layout.columns.map(\.name)
    let printed = ["provider": "iaptic", "app_id": "\"a, b\"", "product_id": "\"pro, yearly\""]
    let cells = names.map { printed[$0] ?? "0" }
    let text = cells.joined(separator: ",") + "\n"
    let row = try #require(RowRecord.rows(of: Array(text.utf8)).first)
    var event = Event(provider: .iaptic, kind: .renewed, time: Instant(milliseconds: 0))
    (event.app, event.product) = (1, 2)
    #expect(event.productKey(["", "a, b", "pro, yearly"]) == shape.productKey(of: row))
    #expect(event.productKey(["", "a, b", "pro"]).feed == shape.feed(of: row))
    #expect(event.productKey(["", "a", "pro, yearly"]).feed != shape.feed(of: row))
  }
}
