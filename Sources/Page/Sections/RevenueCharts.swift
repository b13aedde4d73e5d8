// Revenue by month and by day, stacked by store, provider or app.
internal import Reports

extension SetContents {
  func revenueCharts() -> ChartGroup {
    let months = months(of: revenue)
    let days = revenueDays.values(of: "period")
    let byMonth = views(revenue, months, head: "Month")
    let byDay = views(revenueDays, days, head: "Day")
    var daily = ChartFigure(
      "revenue-days", "Revenue by day", note: "Last three months of the set, in USD.", byDay)
    daily.isPrinted = false
    return ChartGroup(
      id: "revenue", title: "Revenue",
      charts: [
        ChartFigure(
          "revenue-months", "Revenue by month",
          note: "Charges in USD before commission; refunds below the axis.", byMonth),
        daily,
      ])
  }

  private func views(_ cube: Cube, _ periods: [String], head: String) -> [ChartFigure.View] {
    if periods.isEmpty { return [] }
    return [("Store", "store"), ("Provider", "provider"), ("App", "app_id")].map { title, part in
      let table = stacked(cube.by("period", part), by: part, periods, head: head)
      let parts = table.columns.count - 2
      let series =
        (0..<parts).map { place in
          let isRest = table.columns[place].filter.conditions.first?.isExcluded ?? false
          return ColumnChart.Series(column: place, style: isRest ? "c0" : "c\(place % 7 + 1)")
        } + [ColumnChart.Series(column: parts, style: "loss", isBelow: true)]
      let chart = ColumnChart(table: table, series: series, numbers: numbers)
      let name = "Revenue by \(head.lowercased()), stacked by \(title.lowercased())"
      return ChartFigure.View(
        title: title, legend: chart.legend, chart: chart.html(name: name),
        table: table.html(caption: name, numbers), sources: table.sources)
    }
  }

  /// A column for each value of `part` with the highest revenue, one for the others, refunds and
  /// net.
  private func stacked(
    _ cube: Cube, by part: String, _ periods: [String], head: String
  ) -> PageTable {
    let sizes = cube.by(part)
    let earned: [(value: String, size: Int128)] = cube.values(of: part).map {
      ($0, sizes.value(.sum("gross_usd"), $0) ?? 0)
    }
    let ranked = earned.sorted { $0.size == $1.size ? $0.value < $1.value : $0.size > $1.size }
      .map(\.value)
    let most = ranked.count <= 7 ? ranked : Array(ranked.prefix(6))
    var columns = most.map {
      PageTable.Column(
        title: shownName($0, of: part), measure: .sum("gross_usd"), filter: RowFilter(part, $0))
    }
    if ranked.count > most.count {
      columns.append(
        PageTable.Column(
          title: "\(ranked.count - most.count) others", measure: .sum("gross_usd"),
          filter: RowFilter(part, noneOf: most)))
    }
    columns.append(PageTable.Column(title: "Refunds", measure: .sum("refunds_usd")))
    columns.append(PageTable.Column(title: "Net", measure: .sum("net_usd")))
    let sums = columns.map { cube.filtered($0.filter).by("period") }
    let rows = periods.map { period in
      PageTable.Row(
        title: period, filter: RowFilter("period", period),
        isOpen: cube.incomplete.contains(period),
        values: zip(columns, sums).map { column, sum in
          column.measure.flatMap { sum.value($0, period) }
        })
    }
    return PageTable(report: cube.report, head: head, columns: columns, rows: rows)
  }
}

/// A store's or provider's usual name; other values unchanged.
func shownName(_ value: String, of column: String) -> String {
  if value.isEmpty { return column == "app_id" ? "App without id" : "Unknown" }
  guard column != "app_id" else { return value }
  return [
    "app_store": "App Store", "mac_app_store": "Mac App Store", "play_store": "Google Play",
    "stripe": "Stripe", "amazon": "Amazon", "windows": "Windows", "paypal": "PayPal",
    "unknown": "Unknown", "qonversion": "Qonversion", "flobuk": "FLOBUK", "iaptic": "iaptic",
    "purple": "Purple",
  ][value] ?? value
}
