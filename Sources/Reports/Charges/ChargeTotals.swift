internal import Domain

struct ChargeTotals: Codable, Sendable, Equatable {
  /// A sum of amounts, exact and as printed.
  struct Sum: Codable, Sendable, Equatable {
    var exact: Int128 = 0
    var printed: Int128 = 0
  }

  var rows: Int64 = 0
  var units: Int128 = 0
  var grossLocal = Sum()
  var proceedsLocal = Sum()
  var grossUSD = Sum()
  var proceedsUSD = Sum()

  /// Adds a row whose amounts are printed with this many decimals.
  mutating func add(_ charge: BookedCharge, decimals: Int?) {
    rows += 1
    units += Int128(charge.event.units)
    grossLocal.add(charge.grossLocal, decimals)
    proceedsLocal.add(charge.proceedsLocal, decimals)
    grossUSD.add(charge.grossUSD, decimals)
    proceedsUSD.add(charge.proceedsUSD, decimals)
  }

  /// Adds other sums `factor` times: 1 or −1.
  mutating func add(_ other: ChargeTotals, times factor: Int128 = 1) {
    rows += Int64(factor) * other.rows
    units += factor * other.units
    for sum in Self.sums.map(\.sum) {
      self[keyPath: sum].exact += factor * other[keyPath: sum].exact
      self[keyPath: sum].printed += factor * other[keyPath: sum].printed
    }
  }

  static var sums: [(column: String, sum: WritableKeyPath<ChargeTotals, Sum>)] {
    [
      ("gross_local", \.grossLocal), ("proceeds_local", \.proceedsLocal),
      ("gross_usd", \.grossUSD), ("proceeds_usd", \.proceedsUSD),
    ]
  }
}

extension ChargeTotals.Sum {
  mutating func add(_ amount: Amount?, _ decimals: Int?) {
    guard let micros = amount?.micros else { return }
    exact += Int128(micros)
    printed += Int128(rounded(micros, decimals: decimals))
  }
}

extension ChargeTotals {
  func table(at path: String, decimals: Int?) -> ReportTable {
    var totals = ["units": String(units)]
    var residuals: [String: String] = [:]
    for (column, sum) in Self.sums {
      let sum = self[keyPath: sum]
      totals[column] = amountText(sum.printed)
      if let decimals, decimals < 6 { residuals[column] = amountText(sum.exact - sum.printed) }
    }
    return ReportTable(
      path: path, rows: rows, columns: ReportDefinition.charges.columns,
      controlTotals: totals, roundingResidual: residuals)
  }

  /// The sums of a published table; nil when one is missing.
  init?(of table: ReportTable) {
    guard let units = table.controlTotals["units"].flatMap({ Int128($0) }) else { return nil }
    (rows, self.units) = (table.rows, units)
    for (column, sum) in Self.sums {
      guard let printed = table.controlTotals[column].flatMap(micros),
        let residual = micros(table.roundingResidual[column] ?? "0.00")
      else { return nil }
      self[keyPath: sum] = Sum(exact: printed + residual, printed: printed)
    }
  }
}

/// Parses a text of `amountText` into millionths.
private func micros(_ text: String) -> Int128? {
  let parts = text.split(separator: ".", omittingEmptySubsequences: false)
  guard parts.count == 2, parts[1].utf8.count <= 6, parts[1].utf8.allSatisfy({ $0 != 45 }) else {
    return nil
  }
  let zeros = String(repeating: "0", count: 6 - parts[1].utf8.count)
  return Int128("\(parts[0])\(parts[1])\(zeros)")
}
