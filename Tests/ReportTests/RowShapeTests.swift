import Testing
import Vocabulary

@testable import Report

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
}
