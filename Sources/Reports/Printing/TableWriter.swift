internal import EventStore
internal import Domain

/// Writes one report: the rows of its query as CSV, with the sums of the printed values.
///
/// A class, because a closure called once per row would copy a structure each time.
final class TableWriter {
  private let layout: ReportDefinition
  private let plan: ReportPlan
  private let labels: Labels
  /// The output folder; nil if the rows have no file.
  private let folder: String?
  /// The values of a row that are more than its identity, and their columns.
  private let sums: [(value: Int, column: Int)]
  private var rows: PrintedRows
  /// `ReportDefinition.places`; empty before the first row.
  private var places: [Int32] = []
  private var file: CSVFile?
  private var path = ""
  private var month: Month?
  /// Receives the cells of each row in addition to the file.
  private let take: (([LedgerValue]) throws -> Void)?
  private(set) var written: WrittenReports

  /// A writer of `layout`; `labels` has the words of the numbers that its query may return.
  init(
    _ layout: ReportDefinition, plan: ReportPlan, labels: Labels, into folder: String?,
    beside take: (([LedgerValue]) throws -> Void)? = nil
  ) {
    self.layout = layout
    self.plan = plan
    self.labels = labels
    self.folder = folder
    self.take = take
    written = WrittenReports(plan: plan)
    let ends = layout.columns.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.format.width) }
    sums = layout.columns.indices.filter { !layout.columns[$0].isKey }.flatMap { column in
      (ends[column]..<ends[column + 1]).map { ($0, column) }
    }
    rows = PrintedRows(layout, plan: plan, labels: labels)
  }

  /// Writes the report's files: always the file of all periods, and files of months with rows.
  ///
  /// Months before `first`, if given, are carried over from the previous set.
  func write(from ledger: Ledger, since first: Month? = nil) throws {
    if !layout.isSplitByMonth { try open("\(layout.name).csv") }
    if let first { try carry(before: first) }
    if let query = layout.query {
      let sql = String(decoding: query, as: UTF8.self)
      let keys = layout.wordKeys
      if keys.isEmpty {
        try ledger.rows(sql: sql) { try write($0) }
      } else {
        try writePeriods(sql, from: ledger, keys, since: first?.firstDay)
      }
    }
    try finish()
  }

  /// Writes rows of values as a query returns them; `body` adds them one by one.
  func write(_ body: (_ add: ([LedgerValue]) throws -> Void) throws -> Void) throws {
    try open("\(layout.name).csv")
    try body { row in
      try plan.checkStop()
      try writeRow(
        { row[$0] == .null ? nil : row[$0].integer ?? 0 },
        text: { if case .text(let text) = row[$0] { text } else { "" } })
    }
    try finish()
  }

  private func carry(before first: Month) throws {
    guard let folder, let previous = plan.previous else { return }
    for (month, file) in previous.revenue.sorted(by: { $0.key < $1.key }) where month < first {
      try makeFolders("\(folder)/\(layout.name)")
      try file.carry(to: "\(folder)/\(file.table.path)")
      written.add(file.table, file.seal)
    }
  }

  private func write(_ row: Statement) throws {
    try plan.checkStop()
    try check(row)
    let places = places
    try openMonth(of: row.number(places[0]))
    try writeRow({ row.optionalInt64(places[$0]) }, text: { row.text(places[$0]) })
  }

  /// Writes rows that are sorted by period, and sorts them within each.
  private func writePeriods(
    _ sql: String, from ledger: Ledger, _ keys: [PeriodRows.Key], since first: Day?
  ) throws {
    let arguments = first.map { [LedgerValue.integer(Int64($0.number))] } ?? []
    let width = layout.columns.reduce(0) { $0 + $1.format.width }
    var period = PeriodRows(width: width, keys: keys, labels: labels)
    try ledger.rows(sql: sql, arguments: arguments) { row in
      try check(row)
      let next = row.number(places[0])
      if let number = period.number, number != next {
        guard number < next else {
          throw SubledgerError.identity(name: "rows come by period", rows: [layout.name])
        }
        try write(period)
        period.removeAll()
      }
      try period.append(row, places)
    }
    try write(period)
  }

  private func write(_ period: PeriodRows) throws {
    guard let number = period.number else { return }
    try plan.checkStop()
    try openMonth(of: number)
    for row in period.order {
      try writeRow({ period.value(row, $0) }, text: { _ in "" })
    }
  }

  @inline(__always)
  private func writeRow(_ number: (Int) -> Int64?, text: (Int) -> String) throws {
    try rows.append(number, text: text)
    try file?.add(rows.line)
    try take?(rows.cells)
  }

  /// Starts the file of the month of day `number`, in a report that has one file per month.
  private func openMonth(of number: Int64) throws(SubledgerError) {
    guard layout.isSplitByMonth else { return }
    let month = Day(number: Int32(truncatingIfNeeded: number)).month
    guard month != self.month else { return }
    try finish()
    self.month = month
    if let folder { try makeFolders("\(folder)/\(layout.name)") }
    try open("\(layout.name)/\(month.text).csv")
  }

  /// Finds the places of values in the first row, and checks each row for SQLite's conversion of
  /// results beyond 64-bit integers to floating point.
  ///
  /// Further arithmetic can bring such a result back into range, with wrong last digits.
  private func check(_ row: Statement) throws(SubledgerError) {
    if places.isEmpty { places = layout.places(in: row) }
    for (value, column) in sums where row.isFloatingPoint(places[value]) {
      throw .overflow(report: layout.name, column: layout.columns[column].name)
    }
  }

  private func open(_ path: String) throws(SubledgerError) {
    guard let folder else { return }
    file = try CSVFile(
      path: "\(folder)/\(path)", dialect: plan.dialect, columns: layout.columns)
    self.path = path
  }

  private func finish() throws(SubledgerError) {
    guard let file else { return }
    written.add(rows.table(at: path), try file.finish())
    self.file = nil
    rows.removeAll()
  }
}

/// Millionths as reports print amounts, also beyond the range of one amount.
public func amountText(_ micros: Int128) -> String {
  if let amount = Int64(exactly: micros), amount != .min { return Amount(micros: amount).text() }
  let (whole, fraction) = micros.quotientAndRemainder(dividingBy: 1_000_000)
  let rest = Amount(micros: Int64(fraction.magnitude)).text().dropFirst()
  return "\(whole)\(rest)"
}
