internal import Glibc
internal import Ledger
internal import Vocabulary

/// Writes one report: the rows of its query as CSV, with sums of what was printed.
struct TableWriter {
  private let layout: Layout
  private let plan: ReportPlan
  private let lexicon: Lexicon
  private let folder: String
  private let formats: [CellFormat]
  private var file: CSVFile?
  private var line = CSVLine()
  private var path = ""
  private var month: Month?
  /// The last day or month that was printed; many rows follow each other in one.
  private var date: (number: Int64, cell: [UInt8]) = (.min, [])
  private var rows: Int64 = 0
  private var printed: [Int128]
  private var residual: [Int128]
  private(set) var tables: [ReportTable] = []

  /// A writer of `layout`, whose query may return numbers of words of `lexicon`.
  init(_ layout: Layout, plan: ReportPlan, lexicon: Lexicon, into folder: String) {
    self.layout = layout
    self.plan = plan
    self.lexicon = lexicon
    self.folder = folder
    formats = layout.columns.map(\.format)
    printed = [Int128](repeating: 0, count: layout.columns.count)
    residual = printed
  }

  /// Writes the report's files: the one of all periods always, those of months with rows.
  mutating func write(from ledger: Ledger) throws {
    if !layout.isSplitByMonth { try open("\(layout.name).csv") }
    if let query = layout.query {
      let sql = String(decoding: query, as: UTF8.self)
      let keys = layout.wordKeys
      do {
        if keys.isEmpty {
          try ledger.rows(sql: sql) { try write($0) }
        } else {
          try writePeriods(sql, from: ledger, keys)
        }
      } catch let error as LedgerError where error.kind == .overflow {
        throw ReportError.overflow(report: layout.name, column: "a sum")
      }
    }
    try finish()
  }

  private mutating func write(_ row: LedgerRow) throws(ReportError) {
    try check(row)
    try openMonth(of: row.int64(0))
    line.removeAll()
    var value = 0
    for index in formats.indices {
      if row.isNull(value) {
        line.addNothing()
      } else {
        switch formats[index] {
        case .text: line.add(text: row.text(value))
        case .printed: line.add(printed: row.text(value))
        case .name: line.add(name: row.text(value))
        case .ratio: try write(row.int64(value), over: row.int64(value + 1), index)
        default: try write(row.int64(value), over: 0, index)
        }
      }
      value += formats[index].width
    }
    try endRow()
  }

  /// Writes rows that come by period and are put in order within it.
  private mutating func writePeriods(
    _ sql: String, from ledger: Ledger, _ keys: [PeriodRows.Key]
  ) throws {
    let width = formats.reduce(0) { $0 + $1.width }
    var period = PeriodRows(width: width, keys: keys, lexicon: lexicon)
    try ledger.rows(sql: sql) { row in
      if let number = period.number, number != row.int64(0) {
        guard number < row.int64(0) else {
          throw ReportError.identity(name: "rows come by period", rows: [layout.name])
        }
        try write(period)
        period.removeAll()
      }
      try check(row)
      try period.append(row)
    }
    try write(period)
  }

  private mutating func write(_ period: PeriodRows) throws(ReportError) {
    guard let number = period.number else { return }
    try openMonth(of: number)
    for row in period.order {
      line.removeAll()
      var value = 0
      for index in formats.indices {
        let width = formats[index].width
        let next = width > 1 ? period.value(row, value + 1) ?? 0 : 0
        try write(period.value(row, value), over: next, index)
        value += width
      }
      try endRow()
    }
  }

  private mutating func endRow() throws(ReportError) {
    rows += 1
    try file?.add(line)
  }

  /// Begins the file of the month in which day `number` lies, in a report that has one for each.
  private mutating func openMonth(of number: Int64) throws(ReportError) {
    guard layout.isSplitByMonth else { return }
    let month = Day(number: Int32(truncatingIfNeeded: number)).month
    guard month != self.month else { return }
    try finish()
    self.month = month
    try make(folder: "\(folder)/\(layout.name)")
    try open("\(layout.name)/\(month.text).csv")
  }

  /// Adds a cell; `whole` is what a ratio divides by.
  private mutating func write(
    _ number: Int64?, over whole: Int64, _ index: Int
  ) throws(ReportError) {
    guard let number else { return line.addNothing() }
    switch formats[index] {
    case .text, .printed, .name: break
    case .word(let part): line.add(cell: try lexicon.cell(number, part))
    case .integer:
      printed[index] += Int128(number)
      line.add(number)
    case .amount:
      let shown = rounded(number)
      printed[index] += Int128(shown)
      residual[index] += Int128(number) - Int128(shown)
      line.add(micros: shown, decimals: min(2, plan.amountDecimals ?? 2))
    case .percent: line.add(micros: number, decimals: 0)
    case .ratio: write(number, over: whole)
    case .month: write(date: number) { Month(number: $0).text }
    case .day: write(date: number) { Day(number: $0).text }
    case .instant: line.add(plain: Instant(milliseconds: number).text)
    case .wholeDays: line.add(number / 86_400_000)
    case .wholeHours: line.add(number / 3_600_000)
    case .seconds: line.add(number)
    case .latency: line.add(LatencyBucket.seconds(number))
    case .flag: line.add(plain: number == 0 ? "false" : "true")
    }
  }

  private mutating func write(date number: Int64, _ text: (Int32) -> String) {
    if date.number != number {
      date = (number, Array(text(Int32(truncatingIfNeeded: number)).utf8))
    }
    line.add(cell: date.cell)
  }

  private mutating func write(_ part: Int64, over whole: Int64) {
    guard whole != 0 else { return line.addNothing() }
    line.add(micros: rateMillionths(part, over: whole), decimals: 6)
  }

  /// SQLite turns a result that leaves the range of its integers into a floating-point number; what
  /// it makes of that can be in range again, and wrong in its last digits.
  private func check(_ row: LedgerRow) throws(ReportError) {
    var value = 0
    for index in formats.indices {
      for part in value..<value + formats[index].width where row.isFloatingPoint(part) {
        throw .overflow(report: layout.name, column: layout.columns[index].name)
      }
      value += formats[index].width
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
