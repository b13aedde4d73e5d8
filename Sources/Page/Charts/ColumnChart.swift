/// Stacked columns over periods, drawn from the values of a table, upward or downward.
struct ColumnChart {
  struct Series {
    let column: Int
    let style: String
    /// Whether positive values are drawn below the axis.
    var isBelow = false
  }

  let table: PageTable
  let series: [Series]
  let numbers: Numbers
  var height = 200.0

  private var unit: Unit { series.first.map { table.columns[$0.column].unit } ?? .count }

  var legend: [PageItem] {
    series.map { ["title": table.columns[$0.column].title, "style": $0.style] }
      + (table.rows.contains(where: \.isOpen) ? [["title": "So far", "style": "so-far"]] : [])
  }

  /// The chart as HTML; `name` describes it for screen readers.
  func html(name: String) -> String {
    let stacks = table.rows.map(stack)
    let ends = stacks.joined().flatMap { [$0.from, $0.to] }
    // Leave no empty space below the lowest value.
    let low = ends.min() ?? 0
    let ticks = ticks(from: low, to: ends.max() ?? 0, least: unit == .count ? 1_000_000 : 1)
    let scale = Scale(low: low, high: ticks.last ?? 0, length: height)
    let place = { (value: Int128) in 8 + height - scale.place(value) }
    var axis = Marks()
    var plot = Marks()
    for tick in ticks where tick >= low {
      axis.label(numbers.axis(tick, unit), "tick", x: 100, y: place(tick) + 4)
      plot.rule(tick == 0 ? "axis" : "rule", at: place(tick))
    }
    let step = table.rowWidth
    let gap = step * 0.12
    for (index, row) in table.rows.enumerated() {
      let left = Double(index) * step
      let lines = series.compactMap { series -> String? in
        let column = table.columns[series.column]
        guard let value = row.values[series.column], value != 0 else { return nil }
        return "\(column.title): \(numbers.text(value, column.unit))"
      }
      plot.group([row.title + (row.isOpen ? ", so far" : "")] + lines) { marks in
        marks.bar("hit", left: left, width: step, top: 8, height: height)
        for bar in stacks[index] {
          let top = place(max(bar.from, bar.to))
          marks.bar(
            bar.style, left: left + gap, width: step - 2 * gap, top: top,
            height: place(min(bar.from, bar.to)) - top)
        }
      }
    }
    return frame(axis, plot, of: table, name: name, height: height)
  }

  /// The parts of a row's column from the axis on, and the hatching over an incomplete one.
  private func stack(_ row: PageTable.Row) -> [PageTable.Bar] {
    var (low, high) = (Int128(0), Int128(0))
    var parts: [PageTable.Bar] = []
    for series in series {
      guard let value = row.values[series.column], value != 0 else { continue }
      let signed = series.isBelow ? -value : value
      let from = signed < 0 ? low : high
      if signed < 0 { low += signed } else { high += signed }
      parts.append(PageTable.Bar(from: from, to: from + signed, style: series.style))
    }
    if row.isOpen, low < high { parts.append(PageTable.Bar(from: low, to: high, style: "so-far")) }
    return parts
  }
}

/// Labels below a chart for months such as `2026-02` or days such as `2026-02-14`, only some if
/// there are many; the style `wide` is hidden on narrow screens.
func dateLabels(_ dates: [String]) -> [(index: Int, text: String, style: String)] {
  let (few, many) = (max(1, (dates.count + 4) / 5), max(1, (dates.count + 11) / 12))
  // Narrow screens show a subset of the labels, at equal distances.
  let both = (few + many - 1) / many * many
  return stride(from: 0, to: dates.count, by: many).map { index in
    (index, name(of: dates[index]), index % both == 0 ? "name" : "name wide")
  }
}

private func name(of date: String) -> String {
  let parts = date.split(separator: "-")
  guard parts.count > 1, let month = Int(parts[1]), 1...12 ~= month else { return date }
  let name = monthNames[month - 1].prefix(3)
  if parts.count == 2 { return "\(name)\u{a0}’\(parts[0].suffix(2))" }
  return Int(parts[2]).map { "\($0)\u{a0}\(name)" } ?? date
}

/// Combines an axis with a plot of this height that takes the remaining width; the rows of `table`
/// have dates as titles.
func frame(
  _ axis: Marks, _ plot: Marks, of table: PageTable, name: String, height: Double
) -> String {
  var plot = plot
  for (index, text, style) in dateLabels(table.rows.map(\.title)) {
    plot.label(text, style, x: (Double(index) + 0.5) * table.rowWidth, y: height + 26)
  }
  let height = decimal(height + 34, hundredths: false)
  return "<div class=\"chart\"><svg class=\"values\" height=\"\(height)\" aria-hidden=\"true\">"
    + axis.text + "</svg><svg class=\"plot\" height=\"\(height)\" role=\"img\" aria-label=\""
    + asHTML(name) + "\">" + plot.text + "</svg></div>"
}
