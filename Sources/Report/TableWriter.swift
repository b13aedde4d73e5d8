internal import Glibc
internal import Ledger
internal import Vocabulary

/// Writes one report: the rows of its query as CSV, with sums of what was printed.
struct TableWriter {
  private let layout: Layout
  private let plan: ReportPlan
  private let folder: String
  private let formats: [CellFormat]
  private var file: CSVFile?
  private var line = CSVLine()
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
    formats = layout.columns.map(\.format)
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
    line.removeAll()
    var value = 0
    for index in formats.indices {
      try write(row, value, index)
      value += formats[index].width
    }
    rows += 1
    try file?.add(line)
  }

  private mutating func write(
    _ row: LedgerRow, _ value: Int, _ index: Int
  ) throws(ReportError) {
    if row.isNull(value) { return line.addNothing() }
    switch formats[index] {
    case .text: line.add(text: row.text(value))
    case .word: line.add(printed: row.text(value))
    case .name: line.add(name: row.text(value))
    case let format: try write(row, value, index, format)
    }
  }

  private mutating func write(
    _ row: LedgerRow, _ value: Int, _ index: Int, _ format: CellFormat
  ) throws(ReportError) {
    let number = row.int64(value)
    switch format {
    case .text, .word, .name: break
    case .integer:
      try check(number, index)
      printed[index] += Int128(number)
      line.add(number)
    case .amount:
      try check(number, index)
      let shown = rounded(number)
      printed[index] += Int128(shown)
      residual[index] += Int128(number) - Int128(shown)
      line.add(micros: shown, decimals: min(2, plan.amountDecimals ?? 2))
    case .percent: line.add(micros: number, decimals: 0)
    case .ratio: write(number, over: row.int64(value + 1))
    case .month: line.add(plain: Month(number: Int32(truncatingIfNeeded: number)).text)
    case .day: line.add(plain: Day(number: Int32(truncatingIfNeeded: number)).text)
    case .instant: line.add(plain: Instant(milliseconds: number).text)
    case .wholeDays: line.add(number / 86_400_000)
    case .wholeHours: line.add(number / 3_600_000)
    case .seconds: line.add(number)
    case .latency: line.add(LatencyBucket.seconds(number))
    case .flag: line.add(plain: number == 0 ? "false" : "true")
    }
  }

  private mutating func write(_ part: Int64, over whole: Int64) {
    guard whole != 0 else { return line.addNothing() }
    let sign: Int128 = whole < 0 ? -1 : 1
    let millionths = (Int128(part) * sign * 1_000_000).dividedHalfToEven(by: Int128(whole) * sign)
    line.add(micros: Int64(clamping: millionths), decimals: 6)
  }

  /// SQLite turns a result that leaves the range of its integers into a floating-point number,
  /// which reads as the end of the range.
  private func check(_ number: Int64, _ index: Int) throws(ReportError) {
    guard number != .max, number != .min else {
      throw .overflow(report: layout.name, column: layout.columns[index].name)
    }
  }

  private func rounded(_ micros: Int64) -> Int64 {
    guard let decimals = plan.amountDecimals, decimals < 6 else { return micros }
    var unit: Int128 = 1
    for _ in decimals..<6 { unit *= 10 }
    return Int64(clamping: Int128(micros).dividedHalfToEven(by: unit) * unit)
  }

  private mutating func open(_ path: String) throws(ReportError) {
    let file = try CSVFile(path: "\(folder)/\(path)", dialect: plan.dialect)
    line.removeAll()
    for column in layout.columns { line.add(plain: column.name) }
    try file.add(line)
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
    guard mkdir(folder, 0o755) == 0 || errno == EEXIST else {
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
