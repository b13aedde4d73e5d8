// Recurring revenue, active subscriptions and the reasons for churn.
internal import Domain
internal import Reports

extension SetContents {
  func subscriptionCharts() -> ChartGroup {
    var charts: [ChartFigure] = []
    if let month = lastComplete(mrr) ?? months(of: mrr).last {
      let table = waterfall(of: month)
      charts.append(
        ChartFigure(
          "mrr", "MRR movement", note: "In \(monthName(month)), in USD; steps of zero left out.",
          of: table, caption: "MRR movement in \(monthName(month))", numbers))
    }
    charts.append(active())
    charts.append(reasons())
    return ChartGroup(id: "subscriptions", title: "Subscriptions", charts: charts)
  }

  /// The opening balance, movements and closing balance of a month as floating bars.
  private func waterfall(of month: String) -> PageTable {
    var level = mrr.value(.sum("mrr_open"), month) ?? 0
    func row(_ title: String, _ column: String, _ bar: PageTable.Bar) -> PageTable.Row {
      PageTable.Row(
        title: title, measure: .sum(column), values: [mrr.value(.sum(column), month)],
        bars: [bar])
    }
    var rows = [row("At the start", "mrr_open", .init(from: 0, to: level, style: "total"))]
    for movement in Movement.ofRevenue {
      let value = mrr.value(.sum(movement.name), month) ?? 0
      if value == 0 { continue }
      let next = level + value * Int128(movement.revenueSign)
      let style = next < level ? "loss" : "gain"
      rows.append(row(movement.title, movement.name, .init(from: level, to: next, style: style)))
      level = next
    }
    let close = mrr.value(.sum("mrr_close"), month) ?? 0
    rows.append(row("At the end", "mrr_close", .init(from: 0, to: close, style: "total")))
    return PageTable(
      report: mrr.report, head: "Movement", filter: RowFilter("period", month),
      columns: [PageTable.Column(title: "USD", unit: .usd)], rows: rows)
  }

  private func active() -> ChartFigure {
    let columns = [
      ("Active at the end", "active_close", "total", false), ("New", "new", "gain", false),
      ("First seen", "first_seen", "c6", false), ("Churned", "churned", "loss", true),
    ]
    let table = monthly(columns.map { ($0.0, $0.1) })
    func chart(_ places: [Int], height: Double) -> ColumnChart {
      ColumnChart(
        table: table,
        series: places.map {
          ColumnChart.Series(column: $0, style: columns[$0].2, isBelow: columns[$0].3)
        }, numbers: numbers, height: height)
    }
    return ChartFigure(
      "active", "Active subscriptions", note: "At the end of each month; below, new and churned.",
      chart: chart([0], height: 140).html(name: "Active subscriptions by month")
        + chart([1, 2, 3], height: 120)
        .html(name: "New, first seen and churned subscriptions by month"),
      chart([0, 1, 2, 3], height: 0).legend, of: table,
      caption: "Active, new and churned subscriptions", numbers)
  }

  private func reasons() -> ChartFigure {
    let reasons = [
      ("Switched off", "churned_voluntary", "c1"), ("Payment failed", "churned_involuntary", "c2"),
      ("Refunded", "churned_refund", "c3"), ("Price increase", "churned_price_increase", "c4"),
      ("Withdrawn product", "churned_developer", "c5"), ("Unknown", "churned_unknown", "c0"),
    ]
    let table = monthly(reasons.map { ($0.0, $0.1) })
    let seen = reasons.indices.filter { place in
      table.rows.contains { ($0.values[place] ?? 0) != 0 }
    }
    let chart = ColumnChart(
      table: table, series: seen.map { ColumnChart.Series(column: $0, style: reasons[$0].2) },
      numbers: numbers)
    return ChartFigure(
      "churn", "Churn by reason", note: "Subscriptions that ended, by month.",
      chart: chart.html(name: "Churned subscriptions by month and reason"), chart.legend,
      of: table, isEmpty: seen.isEmpty, caption: "Churned subscriptions by reason", numbers)
  }

  /// Counts of subscriptions by month.
  private func monthly(_ columns: [(String, String)]) -> PageTable {
    PageTable(churn, "Month", months(of: churn), columns.map { ($0.0, .sum($0.1), .count) })
  }
}
