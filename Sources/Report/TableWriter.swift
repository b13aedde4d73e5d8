internal import Glibc
internal import Ledger
internal import Vocabulary

/// Writes one report: the rows of its query as CSV, with sums of what was printed.
struct TableWriter {
  private let layout: Layout
  private let plan: ReportPlan
  private let folder: String
  private var file: CSVFile?
  private var path = ""
  private var month: Month?
  private var rows: Int64 = 0
  private var printed: [Int128]
  private var residual: [Int128]
  private(set) var tables: [ReportTable] = []

  init(_ layout: Layout, plan: ReportPlan, into folder: String) {
    self.layout = layout
    self.plan = plan
    self.folder = folder
    printed = [Int128](repeating: 0, count: layout.columns.count)
    residual = printed
  }

  /// Writes the report's files: the one of all periods always, those of months with rows.
  mutating func write(from ledger: Ledger) throws {
    if !layout.isSplitByMonth { try open("\(layout.name).csv") }
    if let query = layout.query {
      try ledger.rows(sql: String(decoding: query, as: UTF8.self)) { try write($0) }
    }
    try finish()
  }

  private mutating func write(_ row: LedgerRow) throws(ReportError) {
    if layout.isSplitByMonth {
      let month = Day(number: Int32(truncatingIfNeeded: row.int64(0))).month
      if month != self.month {
        try finish()
        self.month = month
        try make(folder: "\(folder)/\(layout.name)")
        try open("\(layout.name)/\(month.text).csv")
      }
    }
    guard let file else { return }
    var value = 0
    for (index, column) in layout.columns.enumerated() {
      try write(row, value, column, index, to: file)
      value += column.format.width
    }
    rows += 1
    try file.endLine()
  }

  private mutating func write(
    _ row: LedgerRow, _ value: Int, _ column: Column, _ index: Int, to file: CSVFile
  ) throws(ReportError) {
    if row.isNull(value) { return file.addNothing() }
    switch column.format {
    case .text: file.add(text: row.text(value))
    case .integer:
      let number = try exact(row.int64(value), column)
      printed[index] += Int128(number)
      file.add(number)
    case .amount:
      let amount = try exact(row.int64(value), column)
      let shown = rounded(amount)
      printed[index] += Int128(shown)
      residual[index] += Int128(amount) - Int128(shown)
      file.add(micros: shown, decimals: min(2, plan.amountDecimals ?? 2))
    case .percent: file.add(micros: row.int64(value), decimals: 0)
    case .ratio: write(row.int64(value), over: row.int64(value + 1), to: file)
    case .month: file.add(plain: Month(number: Int32(truncatingIfNeeded: row.int64(value))).text)
    case .day: file.add(plain: Day(number: Int32(truncatingIfNeeded: row.int64(value))).text)
    case .instant: file.add(plain: Instant(milliseconds: row.int64(value)).text)
    case .wholeDays: file.add(row.int64(value) / 86_400_000)
    case .latency: file.add(LatencyBucket.seconds(row.int64(value)))
    case .flag: file.add(plain: row.int64(value) == 0 ? "false" : "true")
    }
  }

  private func write(_ part: Int64, over whole: Int64, to file: CSVFile) {
    guard whole != 0 else { return file.addNothing() }
    let sign: Int128 = whole < 0 ? -1 : 1
    let millionths = (Int128(part) * sign * 1_000_000).dividedHalfToEven(by: Int128(whole) * sign)
    file.add(micros: Int64(clamping: millionths), decimals: 6)
  }

  /// SQLite turns a result that leaves the range of its integers into a floating-point number,
  /// which reads as the end of the range.
  private func exact(_ number: Int64, _ column: Column) throws(ReportError) -> Int64 {
    guard number != .max, number != .min else {
      throw .overflow(report: layout.name, column: column.name)
    }
    return number
  }

  private func rounded(_ micros: Int64) -> Int64 {
    guard let decimals = plan.amountDecimals, decimals < 6 else { return micros }
    var unit: Int128 = 1
    for _ in decimals..<6 { unit *= 10 }
    return Int64(clamping: Int128(micros).dividedHalfToEven(by: unit) * unit)
  }

  private mutating func open(_ path: String) throws(ReportError) {
    let file = try CSVFile(path: "\(folder)/\(path)", dialect: plan.dialect)
    for column in layout.columns { file.add(plain: column.name) }
    try file.endLine()
    self.file = file
    self.path = path
  }

  private mutating func finish() throws(ReportError) {
    guard let file else { return }
    try file.flush()
    tables.append(
      ReportTable(
        path: path, rows: rows, columns: layout.columns.map(\.shown), controlTotals: totals,
        roundingResidual: isRounding ? residuals : [:]))
    self.file = nil
    rows = 0
    for index in printed.indices {
      printed[index] = 0
      residual[index] = 0
    }
  }

  private var isRounding: Bool { plan.amountDecimals.map { $0 < 6 } ?? false }

  private var totals: [String: String] {
    var totals: [String: String] = [:]
    for (column, sum) in zip(layout.columns, printed) where !column.isKey {
      switch column.format {
      case .integer: totals[column.name] = String(sum)
      case .amount: totals[column.name] = amountText(sum)
      default: break
      }
    }
    return totals
  }

  private var residuals: [String: String] {
    var residuals: [String: String] = [:]
    for (column, sum) in zip(layout.columns, residual) {
      if case .amount = column.format { residuals[column.name] = amountText(sum) }
    }
    return residuals
  }

  private func make(folder: String) throws(ReportError) {
    guard mkdir(folder, 0o777) == 0 || errno == EEXIST else {
      throw .cannotCreate(path: folder, errorNumber: errno)
    }
  }
}

/// Millionths as reports print amounts, also beyond the range of one amount.
private func amountText(_ micros: Int128) -> String {
  if let amount = Int64(exactly: micros), amount != .min { return Amount(micros: amount).text() }
  let (whole, fraction) = micros.quotientAndRemainder(dividingBy: 1_000_000)
  let rest = Amount(micros: Int64(fraction.magnitude)).text().dropFirst()
  return "\(whole)\(rest)"
}
