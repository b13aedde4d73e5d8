import Testing

@testable import Page

@Suite("Charts stay inside their frames")
struct ChartTests {
  private let unit: Int128 = 1_000_000
  private let numbers = Numbers(locale: .en)

  @Test(
    "Columns of a single day, zero, negative and billion values fit their frame",
    arguments: [
      [[5, 3]], [[0, 0], [0, 0]], [[-4, 2], [7, 0]], [[1_000_000_000, 999_999_999], [1, 0]],
      [[nil, nil]], [],
    ] as [[[Int128?]]])
  func columns(values: [[Int128?]]) throws {
    let chart = ColumnChart(
      table: table(values),
      series: [.init(column: 0, style: "c1"), .init(column: 1, style: "loss", isBelow: true)],
      numbers: numbers
    ).html(name: "Test")
    let shapes = bars(chart)
    let nonzero = values.joined().filter { ($0 ?? 0) != 0 }.count
    #expect(shapes.filter { $0.style != "hit" }.count == nonzero)
    for shape in shapes {
      #expect(shape.left >= 0 && shape.left + shape.width <= 100.01, "\(shape)")
      #expect(shape.top >= 8 && shape.top + shape.height <= 208.5, "\(shape)")
      #expect(shape.height >= 0.5 && shape.width > 0, "\(shape)")
    }
  }

  @Test("Values stack in their order, and series below the axis are drawn below it")
  func stack() throws {
    let chart = ColumnChart(
      table: table([[40, 20]]),
      series: [
        .init(column: 0, style: "c1"), .init(column: 0, style: "c2"),
        .init(column: 1, style: "loss", isBelow: true),
      ], numbers: numbers
    ).html(name: "Test")
    let found = bars(chart).filter { $0.style != "hit" }
    #expect(found.map(\.style) == ["c1", "c2", "loss"])
    // From the lowest value, −20, to the highest tick, 100, in 200 points below the first 8.
    #expect(found.map(\.top) == [108, 41.3, 174.7])
    #expect(found.map(\.height) == [66.7, 66.7, 33.3])
  }

  @Test("A month that is not complete is marked, in the chart and in the table")
  func soFar() {
    for isOpen in [true, false] {
      let table = table([[5, 0]], isOpen: isOpen)
      let chart = ColumnChart(
        table: table, series: [.init(column: 0, style: "c1")], numbers: numbers)
      #expect(chart.html(name: "Test").contains("class=\"so-far\"") == isOpen)
      #expect(table.html(caption: "Test", numbers).contains("so far") == isOpen)
    }
  }

  @Test("Labels of many periods are thinned, and more so on narrow screens")
  func labels() {
    let days = (0..<90).map { "2026-01-\($0 % 28 + 1)" }
    let shown = dateLabels(days)
    #expect((6...12).contains(shown.count))
    #expect((2...6).contains(shown.count { $0.style == "name" }))
    #expect(dateLabels(["2026-02"]).map(\.text) == ["Feb\u{a0}’26"])
    #expect(dateLabels(["strange"]).map(\.text) == ["strange"])
    #expect(dateLabels([]).isEmpty)
  }

  @Test("Bars in rows share an axis that includes zero")
  func rows() throws {
    #expect(Scale([]) == nil)
    let scale = try #require(
      Scale([.init(from: 0, to: 80, style: "a"), .init(from: 80, to: -20, style: "b")]))
    let found = bars(scale.svg([.init(from: 80, to: -20, style: "b")]))
    #expect(found.map(\.left) == [0] && found.map(\.width) == [100])
    #expect(bars(try #require(Scale([.init(from: 0, to: 0, style: "a")])).svg([])).isEmpty)
  }

  @Test("A range of seconds is drawn between one second and ten days")
  func ranges() {
    let seconds: [Int128] = [0, 60, 3_600, 1_000_000_000]
    for value in seconds {
      let chart = RangeChart(table: table([[value, value]]), numbers: numbers)
        .html(name: "Test")
      for place in chart.matches(of: /class="range"[^\/]*y1="([0-9.]+)"[^\/]*y2="([0-9.]+)"/) {
        let ends = [place.1, place.2].compactMap { Double($0) }
        #expect(ends.count == 2 && ends.allSatisfy { 7...170 ~= $0 }, "\(value): \(ends)")
      }
    }
  }

  private func table(_ values: [[Int128?]], isOpen: Bool = false) -> PageTable {
    PageTable(
      report: "revenue_monthly", head: "Month",
      columns: ["Up", "Down"].map {
        PageTable.Column(title: $0, measure: .sum("gross_usd"), unit: .usd)
      },
      rows: values.map { row in
        PageTable.Row(title: "2026-02", isOpen: isOpen, values: row.map { $0.map { $0 * unit } })
      })
  }
}

/// A drawn bar, horizontally in percent and vertically in points.
struct DrawnBar {
  let style: String
  let left: Double
  let top: Double
  let width: Double
  let height: Double
}

func bars(_ svg: String) -> [DrawnBar] {
  svg.matches(
    of:
      /<rect class="([^"]+)" x="([0-9.-]+)%?" y="([0-9.-]+)" width="([0-9.]+)%?" height="([0-9.]+)"/
  ).map {
    DrawnBar(
      style: String($0.1), left: Double($0.2) ?? -1, top: Double($0.3) ?? -1,
      width: Double($0.4) ?? -1, height: Double($0.5) ?? -1)
  }
}
