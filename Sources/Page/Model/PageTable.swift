internal import Reports

/// A table of the page whose numbers carry their provenance; charts are drawn from its values.
struct PageTable {
  struct Column {
    let title: String
    /// Nil if each row has its own measure.
    var measure: Measure?
    var unit = Unit.usd
    var filter = RowFilter()
  }

  struct Row {
    let title: String
    var filter = RowFilter()
    var measure: Measure?
    /// Whether its period is not complete.
    var isOpen = false
    /// One value per column; nil where unknown.
    let values: [Int128?]
    /// The bars between title and numbers.
    var bars: [Bar] = []
  }

  /// A segment of a row's bar, in the units of the values.
  struct Bar {
    let from: Int128
    let to: Int128
    let style: String
  }

  let report: String
  /// The heading of the row titles, such as `Month`.
  let head: String
  /// The rows of the report from which all numbers are computed.
  var filter = RowFilter()
  let columns: [Column]
  let rows: [Row]
  /// Whether cells are shaded by value, as shares of 1; unknown values then give empty cells.
  var isShaded = false

  /// The width of a row in a chart over all rows, in percent.
  var rowWidth: Double { 100 / Double(max(1, rows.count)) }

  /// The columns of the report that the table shows.
  var sources: [Source] {
    (columns.compactMap(\.measure) + rows.compactMap(\.measure)).flatMap(\.columns)
      .map { Source(report: report, column: $0) }
  }

  func html(caption: String, _ numbers: Numbers) -> String {
    let bars = Scale(rows.flatMap(\.bars))
    var out = "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"\(caption)\">"
    out += "<table class=\"\(isShaded ? "heat" : bars == nil ? "grid" : "bars")\""
    out += " data-file=\"\(report)\"\(filter.attribute())>"
    out += "<caption>\(caption)</caption><thead><tr><th scope=\"col\">\(head)</th>"
    if bars != nil { out += "<td></td>" }
    for column in columns {
      out += "<th scope=\"col\" data-as=\"\(column.unit.rawValue)\""
      out += (column.measure?.attribute ?? "") + column.filter.attribute() + ">"
      out += linked(column.title, column.measure) + "</th>"
    }
    out += "</tr></thead><tbody>\n"
    for row in rows { out += html(of: row, bars, numbers) }
    return out + "</tbody></table></div>"
  }

  private func html(of row: Row, _ bars: Scale?, _ numbers: Numbers) -> String {
    var out = "<tr\(row.filter.attribute())\(row.measure?.attribute ?? "")"
    if row.isOpen { out += " class=\"open\"" }
    out += "><th scope=\"row\">\(linked(row.title, row.measure))"
    if row.isOpen { out += " <span class=\"so-far\">so far</span>" }
    out += "</th>"
    if let bars { out += "<td class=\"bar\">\(bars.svg(row.bars))</td>" }
    for (column, value) in zip(columns, row.values) {
      if isShaded {
        let shade = value.map { max(0, min(10, $0 / 100_000)) }
        out += shade.map { "<td class=\"h\($0)\">" } ?? "<td>"
        out += value == nil ? "" : numbers.text(value, column.unit)
      } else {
        out += value == 0 ? "<td class=\"z\">" : "<td>"
        out += numbers.text(value, column.unit)
      }
      out += "</td>"
    }
    return out + "</tr>\n"
  }

  private func linked(_ title: String, _ measure: Measure?) -> String {
    guard let column = measure?.columns.first else { return asHTML(title) }
    return "<a href=\"#\(Source(report: report, column: column).anchor)\">\(asHTML(title))</a>"
  }
}

extension PageTable {
  /// A table with one row for each of `keys`, values of the only dimension of `cube`, and one
  /// column per measure.
  init(
    _ cube: Cube, _ head: String, _ keys: [String], _ measures: [(String, Measure, Unit)],
    titled: (String) -> String = { $0 }, bars: ([Int128?]) -> [Bar] = { _ in [] }
  ) {
    self.init(
      report: cube.report, head: head,
      columns: measures.map { Column(title: $0.0, measure: $0.1, unit: $0.2) },
      rows: keys.map { key in
        let values = measures.map { cube.value($0.1, key) }
        return Row(
          title: titled(key), filter: RowFilter(cube.dimensions[0], key),
          isOpen: cube.incomplete.contains(key), values: values, bars: bars(values))
      })
  }
}
