public import Domain
public import EventStore

/// The list of charges while it is built: rows arrive by subscription, and the files of the months
/// are written when all rows have arrived.
public struct ChargeList: Sendable {
  private(set) var spill: ChargeSpill?
  private(set) var totals: [Month: ChargeTotals] = [:]
  /// How often each row of the published list is removed, by the fingerprint of its bytes.
  private(set) var removed: [Month: [Int64: Int]] = [:]
  private let spillPath: String

  /// An empty list; the file for its rows is created at `spillPath` and at once unlinked.
  public init(spillPath: String) { self.spillPath = spillPath }

  /// Adds the rows of `part`, which must be sorted.
  public mutating func add(_ part: ChargePart) throws(SubledgerError) {
    if !part.entries.isEmpty {
      if spill == nil { spill = try ChargeSpill(at: spillPath) }
      try spill?.add(part)
    }
    for (month, sums) in part.totals { totals[month, default: ChargeTotals()].add(sums) }
    for (month, rows) in part.removed {
      removed[month, default: [:]].merge(rows) { $0 + $1 }
    }
  }

  /// Whether `previous` contains every row that this list removes from it.
  public func agrees(with previous: PreviousMonths) throws -> Bool {
    for (month, rows) in removed {
      guard let file = previous.charges[month] else { return false }
      var missing = rows
      try file.forEachRow { _ = missing.takeOne(of: Fingerprint.of($0)) }
      guard missing.isEmpty else { return false }
    }
    return true
  }

  /// Writes the months' files into `folder`; without a previous set, this list is the whole one.
  ///
  /// - Throws: `SubledgerError` of kind `identity` when its sums differ from the ledger's revenue.
  public func write(
    into folder: String, plan: ReportPlan, checkedBy ledger: Ledger
  ) throws -> WrittenReports {
    var months = totals
    for (month, sums) in plan.previous?.chargeTotals ?? [:] {
      months[month, default: ChargeTotals()].add(sums)
    }
    try check(months, in: ledger)
    var reports = WrittenReports(plan: plan)
    let written = months.filter { $0.value.rows > 0 }.sorted { $0.key < $1.key }
    if !written.isEmpty { try makeFolders("\(folder)/charges") }
    for (month, totals) in written {
      try plan.checkStop()
      let path = "charges/\(month.text).csv"
      let seal = try write(month, to: "\(folder)/\(path)", plan)
      reports.add(totals.table(at: path, decimals: plan.amountDecimals), seal)
    }
    return reports
  }

  /// Writes the published rows of a month except the removed ones, and the new rows.
  private func write(_ month: Month, to path: String, _ plan: ReportPlan) throws -> FileSeal {
    let previous = plan.previous?.charges[month]
    var rows = try spill?.rows(of: month, in: plan.dialect)
    var removed = removed[month] ?? [:]
    if let previous, rows == nil, removed.isEmpty {
      try previous.carry(to: path)
      return previous.seal
    }
    let columns = ReportDefinition.charges.columns
    let file = try CSVFile(path: path, dialect: plan.dialect, columns: columns)
    let separator = UInt8(ascii: plan.dialect.separator)
    /// Adds the new rows that sort before `limit`, or all of them.
    func addRows(before limit: UnsafeRawBufferPointer?) throws {
      while try rows?.takeFirst({ row in
        guard limit.map({ precedes(row, $0, separator) }) ?? true else { return false }
        try file.add(line: row)
        return true
      }) == true {}
    }
    try previous?.forEachRow { line in
      if !removed.isEmpty, removed.takeOne(of: Fingerprint.of(line)) { return }
      try addRows(before: line)
      try file.add(line: line)
    }
    try addRows(before: nil)
    return try file.finish()
  }

  /// SQL for how often a sum was carried into its `…_unknown`.
  private func carries(_ amount: String) -> String {
    "((\(amount)_unknown + \(PartialSum.carry / 2)) >> 40)"
  }

  /// Compares the sums of each month with those of its revenue.
  private func check(_ months: [Month: ChargeTotals], in ledger: Ledger) throws {
    var booked: [Month: ChargeTotals] = [:]
    try ledger.rows(
      sql: """
        select month, charges + refunds, gross_local - refunds_local, proceeds_local,
          gross_usd - refunds_usd, proceeds_usd,
          \(carries("gross_local")) - \(carries("refunds_local")), \(carries("proceeds_local")),
          \(carries("gross_usd")) - \(carries("refunds_usd")), \(carries("proceeds_usd"))
        from revenue_month_cell
        """
    ) { row in
      var sums = booked[row.month(0)] ?? ChargeTotals()
      sums.rows += row.number(1)
      for (index, sum) in zip(Int32(0)..., ChargeTotals.sums.map(\.sum)) {
        sums[keyPath: sum].exact +=
          Int128(row.number(index + 2)) + Int128(row.number(index + 6)) << 62
      }
      booked[row.month(0)] = sums
    }
    var wrong: [String] = []
    for month in Set(months.keys).union(booked.keys).sorted() {
      let (ours, theirs) = (months[month] ?? ChargeTotals(), booked[month] ?? ChargeTotals())
      if ours.rows != theirs.rows {
        wrong.append("charges of \(month.text): \(ours.rows) rows, \(theirs.rows) in the cells")
      }
      for (column, sum) in ChargeTotals.sums
      where ours[keyPath: sum].exact != theirs[keyPath: sum].exact {
        wrong.append(
          "\(column) of \(month.text): \(amountText(ours[keyPath: sum].exact)) in charges, "
            + "\(amountText(theirs[keyPath: sum].exact)) in the cells")
      }
    }
    if !wrong.isEmpty {
      throw SubledgerError.identity(name: chargesIdentity, rows: Array(wrong.prefix(10)))
    }
  }
}

/// The rule that the list of charges and the reports of revenue must obey.
let chargesIdentity = "charges = revenue_monthly"
