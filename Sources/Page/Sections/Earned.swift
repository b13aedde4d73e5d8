// The headline numbers of the last complete month.
internal import Domain
internal import Reports

extension SetContents {
  /// Revenue, proceeds, recurring revenue, subscriptions and churn.
  func earned() -> [Figure] {
    let revenue = revenue.by("period")
    let booked = lastComplete(revenue) ?? months(of: revenue).last
    let settled = lastComplete(churn) ?? months(of: churn).last
    return [
      figure("Net revenue", revenue, .sum("net_usd"), .usd, of: booked),
      figure("Proceeds", revenue, .sum("proceeds_usd"), .usd, of: booked),
      figure("MRR", mrr, .sum("mrr_close"), .usd, of: settled),
      figure("Active subscriptions", churn, .sum("active_close"), .count, of: settled),
      figure("Churn rate", churn, .rate("lost", over: "active_open"), .percent, of: settled),
    ]
  }

  private func figure(
    _ title: String, _ cube: Cube, _ measure: Measure, _ unit: Unit, of month: String?
  ) -> Figure {
    let months = months(of: cube)
    let filter = RowFilter("period", month ?? "")
    let value = month.flatMap { cube.value(measure, $0) }
    var figure = Figure(
      title, of: month, value, unit, in: cube.report, measure, where: filter, numbers)
    guard let month else {
      figure.provenance = ""
      return figure
    }
    guard let place = months.firstIndex(of: month) else { return figure }
    let shown = months[...place].suffix(13)
    figure.spark = sparkline(shown.map { cube.value(measure, $0) })
    if cube.incomplete.contains(month) { figure.note = "so far" }
    // A month without rows is missing from the list, so the one before may not be adjacent.
    guard place > 0, Month(text: months[place - 1])?.next.text == month else { return figure }
    let before = cube.value(measure, months[place - 1])
    if let change = Self.change(before, value, unit) {
      figure.change = [
        "text": unit == .percent
          ? numbers.signed(change, .points) + " points" : numbers.signed(change, .percent),
        "provenance": figure.provenance
          + RowFilter("period", months[place - 1]).attribute("data-from"),
        "before": monthName(months[place - 1]),
      ]
    }
    return figure
  }

  /// The relative change of a number, or the difference of a rate; nil when it has no meaning.
  private static func change(_ before: Int128?, _ value: Int128?, _ unit: Unit) -> Int128? {
    guard let before, let value else { return nil }
    if unit == .percent { return value - before }
    guard before > 0 else { return nil }
    return ((value - before) * 1_000_000).dividedHalfToEven(by: before)
  }

  func missing() -> [Figure] {
    let (all, unknown) = (RowFilter(), RowFilter("amount_basis", "none"))
    var figures = [
      ("Open breaks", quality, all, "open_breaks", Unit.count),
      ("Missing events", quality, all, "missing_events", .count),
      ("Worth, estimated", quality, all, "missing_usd", .usd),
      ("Charges without amount", revenue, unknown, "charges", .count),
      ("Rejected lines", inputs, all, "rejected", .count),
    ].map { title, cube, filter, column, unit in
      Figure(
        title, cube.filtered(filter).by().value(.sum(column)), unit, in: cube.report, .sum(column),
        where: filter, numbers)
    }
    figures[2].note = "not in any number above"
    return figures
  }
}
