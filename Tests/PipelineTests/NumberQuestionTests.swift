import Reports
import Testing

@testable import Pipeline

@Test("A number is explained by rows whose keys match byte for byte")
func exactKeys() {
  let key = NumberQuestion.Key(column: "product_id", place: 0, text: "caf\u{e9}")
  #expect(key.fits("caf\u{e9}") && key.fits(printed: "caf\u{e9}"))
  #expect(!key.fits("cafe\u{301}") && !key.fits(printed: "cafe\u{301}"))
}

@Test(
  "Between opening and closing balance are columns of the report, and all its movements",
  arguments: [
    (
      NumberReport.churnMonthly, "active_close",
      "active_open + new + first_seen + reactivated + recovered + resumed + transfer_in - churned "
        + "- paused - transfer_out"
    ),
    (
      .mrrMonthly, "mrr_close",
      "mrr_open + new + first_seen + reactivated + recovered + resumed + transfer_in + expansion "
        + "+ fx - contraction - churned - paused - transfer_out"
    ),
  ])
func flows(report: NumberReport, close: String, expected: String) throws {
  guard case .sum(let parts) = report.formula(of: close) else {
    Issue.record("\(close) follows from no sum")
    return
  }
  let columns = try #require(reportColumns(report.rawValue)).map(\.name)
  #expect(parts.allSatisfy { columns.contains($0.column) })
  let text = parts.map { ($0.factor < 0 ? "- " : "+ ") + $0.column }.joined(separator: " ")
  #expect(text.dropFirst(2) == expected)
}
