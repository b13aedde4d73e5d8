import EventStore
import Reconciliation
import Reports
import Domain

extension NumberPass {
  /// The breaks of the newest run in the rows asked for, as `quality_monthly.csv` counts them.
  mutating func explainBreaks(_ plan: ReportPlan) throws {
    guard let columns = reportColumns("breaks") else { return }
    let places = Dictionary(
      uniqueKeysWithValues: columns.enumerated().map { ($0.element.name, $0.offset) })
    var entries: [(Entry, [ColumnContribution])] = []
    try forEachRow(of: "breaks", from: ledger, plan: plan) { row in
      let found = BreakRow(row, places)
      guard ["open", "reopened"].contains(found["status"]), fits(found) else { return }
      var entry = Entry(at: found.expectedAt, step: found["code"], breakID: found["break_id"])
      let shares = found.shares.filter { question.listed.contains($0.column) }
      entry.shares = shares.map {
        (
          $0.column,
          $0.isUnknown
            ? "" : numberText(Int128($0.value), isAmount: question.isAmount($0.column))
        )
      }
      if !shares.isEmpty { entries.append((entry, shares)) }
    }
    for (entry, shares) in entries {
      for share in shares { add(share) }
      try store.add(entry)
    }
  }

  /// A break without a business time counts at as-of.
  private func fits(_ found: BreakRow) -> Bool {
    let asOf = rules.fold.asOf - Interval(milliseconds: 1)
    let month = rules.fold.calendar.month(of: found.expectedAt ?? asOf).number
    guard question.time.map({ $0.number == month }) ?? true else { return false }
    return question.keys.allSatisfy { $0.fits(printed: found[$0.column.rawValue]) }
  }
}

/// A row of `breaks.csv` by column name.
struct BreakRow {
  private let row: [ReportValue]
  private let places: [String: Int]

  init(_ row: [ReportValue], _ places: [String: Int]) {
    self.row = row
    self.places = places
  }

  /// The column as it is printed; empty for none of that name.
  subscript(_ column: String) -> String { places[column].map { row[$0].text } ?? "" }

  var expectedAt: Instant? { CivilCalendar.utc.instant(self["expected_at"]) }

  /// Its values in the columns of `quality_monthly.csv`; sandbox purchases carry no money.
  var shares: [ColumnContribution] {
    let missing = Int64(self["missing_events"]) ?? 0
    var shares = [ColumnContribution(column: "open_breaks", value: 1)]
    guard missing != 0 else { return shares }
    shares.append(ColumnContribution(column: "missing_events", value: missing))
    var money = ColumnContribution(column: "missing_usd", value: 0)
    if self["environment"] == Environment.production.name {
      if let place = places["estimated_usd"], case .amount(let amount) = row[place] {
        money.value = amount.micros
      } else {
        money.isUnknown = true
      }
    }
    return shares + [money]
  }
}
