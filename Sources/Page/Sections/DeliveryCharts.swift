// How webhooks arrived: duplicates and latency by day, outages and gaps on the time axis, and how
// many missing events the checks find.
internal import Domain
internal import Formats
internal import Reports

extension SetContents {
  func deliveryCharts() throws -> ChartGroup {
    let counts = byDay([
      ("New events", .sum("distinct_events")), ("Exact duplicates", .sum("duplicates_exact")),
      ("Same in content", .sum("duplicates_semantic")), ("Conflicts", .sum("conflicts")),
      ("Late", .sum("late")),
    ])
    let timelines = [
      ("outages", "Outages", "Times when your endpoint accepted no delivery.", try outages()),
      ("gaps", "Feed gaps", "Times when a feed delivered far fewer events than usual.", try gaps()),
    ]
    let chart = ColumnChart(
      table: counts,
      series: (0..<4).map { ColumnChart.Series(column: $0, style: "c\($0 + 1)") },
      numbers: numbers)
    let name = "Deliveries and duplicates by day"
    var figures = [
      ChartFigure(
        "duplicates", "Deliveries and duplicates", note: "By day, in the last three months.",
        chart: chart.html(name: name), chart.legend, of: counts, caption: name, numbers)
    ]
    figures.append(latencyFigure())
    figures.indices.forEach { figures[$0].isPrinted = false }
    for (id, title, note, table) in timelines {
      let axis = " The bar is the time from the first month of the set to as-of."
      figures.append(ChartFigure(id, title, note: note + axis, of: table, numbers))
    }
    if !drill.sums.isEmpty { figures.append(recallFigure()) }
    return ChartGroup(id: "deliveries", title: "Deliveries", charts: figures)
  }

  private func latencyFigure() -> ChartFigure {
    let table = byDay([
      ("Median, s", .max("latency_p50_s")), ("95th percentile, s", .max("latency_p95_s")),
    ])
    let chart = RangeChart(table: table, numbers: numbers)
    return ChartFigure(
      "latency", "Delivery latency",
      note: "From event to receipt, of the slowest kind of each day: median to 95th percentile.",
      chart: chart.html(name: "Delivery latency by day"), of: table,
      isEmpty: !table.rows.contains { $0.values[1] != nil },
      caption: "Delivery latency by day, in seconds", numbers)
  }

  /// How many of the events that the last drill damaged were found by the checks.
  private func recallFigure() -> ChartFigure {
    let measures = [
      ("Damaged", Measure.sum("injected"), Unit.count), ("Found", .sum("found"), .count),
      ("Missed", .sum("missed"), .count), ("Not provable", .sum("unrevealed"), .count),
      ("Recall", .rate("found", over: "found+missed"), .percent),
      ("False", .sum("false"), .count),
      ("Precision", .rate("found", over: "found+false"), .percent),
    ]
    let table = PageTable(
      drill, "Code", drill.values(of: "code"), measures,
      bars: { values in
        let (found, missed) = (values[1] ?? 0, values[2] ?? 0)
        return [
          .init(from: 0, to: found, style: "gain"),
          .init(from: found, to: found + missed, style: "loss"),
        ]
      })
    return ChartFigure(
      "drill", "Recall of the checks",
      note: "The last drill damaged events in a copy of the ledger. Damage that nothing in the "
        + "data can show is not provable, and does not count as missed.", of: table, numbers)
  }

  private func byDay(_ columns: [(String, Measure)]) -> PageTable {
    let days = deliveries.values(of: "day")
    return PageTable(deliveries, "Day", days, columns.map { ($0.0, $0.1, .count) })
  }

  /// Periods without deliveries, on a time axis from the first month of the set to as-of.
  private func timeline(
    _ title: String, _ report: String, _ columns: [String], _ measures: [(String, String, Unit)],
    _ row: ([String]) -> (title: String, filter: RowFilter, from: String, to: String)?
  ) throws -> PageTable {
    let first = revenue.values(of: "period").first ?? churn.values(of: "period").first ?? ""
    let start = InstantText.rfc3339("\(first)-01T00:00:00Z") ?? asOf
    let begin = Int128(start.milliseconds)
    let track = PageTable.Bar(
      from: 0, to: max(1, Int128(asOf.milliseconds) - begin), style: "track")
    var rows: [PageTable.Row] = []
    try set.forEachRow(of: report, columns + measures.map(\.1)) { cells in
      guard let row = row(cells), let from = InstantText.rfc3339(row.from),
        let to = InstantText.rfc3339(row.to)
      else { return }
      let gap = PageTable.Bar(
        from: max(0, Int128(from.milliseconds) - begin),
        to: max(0, Int128(to.milliseconds) - begin) + 1, style: "loss")
      rows.append(
        PageTable.Row(
          title: row.title, filter: row.filter,
          values: cells[columns.count...].map { micros($0) }, bars: [track, gap]))
      if rows.count > 20 { rows.removeFirst() }
    }
    return PageTable(
      report: report, head: title,
      columns: measures.map { PageTable.Column(title: $0.0, measure: .sum($0.1), unit: $0.2) },
      rows: rows)
  }

  private func outages() throws -> PageTable {
    try timeline(
      "Outage", "outages", ["from", "to", "provider"],
      [("Delayed", "deliveries_delayed", .count), ("Lost", "deliveries_lost", .count)]
    ) { cells in
      (
        "\(shownName(cells[2], of: "provider")), \(minute(cells[0])) to \(minute(cells[1]))",
        RowFilter("from", cells[0]).and("to", cells[1]).and("provider", cells[2]),
        cells[0], cells[1]
      )
    }
  }

  private func gaps() throws -> PageTable {
    try timeline(
      "Gap", "breaks", ["break_id", "code", "status", "provider", "app_id", "expected_at"],
      [("Worth, USD", "estimated_usd", .usd)]
    ) { cells in
      guard cells[1] == "FEED_GAP", openStatus.contains(cells[2]) else { return nil }
      let app = cells[4].isEmpty ? "" : " \(cells[4])"
      return (
        "\(shownName(cells[3], of: "provider"))\(app), from \(minute(cells[5]))",
        RowFilter("break_id", cells[0]), cells[5], cells[5]
      )
    }
  }
}

/// A cell's instant, cut to the minute.
func minute(_ text: String) -> String {
  guard text.utf8.count >= 16 else { return text }
  return text.prefix(16).replacing("T", with: " ") + " UTC"
}
