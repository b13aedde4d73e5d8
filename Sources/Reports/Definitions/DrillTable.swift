internal import Domain

/// One line of a drill's result.
public struct DrillRow: Sendable, Equatable {
  /// A break's code, or `duplicate`.
  public let code: String
  /// Damages that the code must show.
  public var injected: Int64 = 0
  /// Of these, the ones that a break or a count showed.
  public var found: Int64 = 0
  /// Of `found`, losses that another `MISSED_` code named.
  public var renamed: Int64 = 0
  /// Of `injected`, the ones that were missed although the data shows them.
  public var missed: Int64 = 0
  /// Of `injected`, the ones that the data cannot show, by reason.
  public var unrevealed: [String: Int64] = [:]
  /// Breaks, or counts, that no damage explains.
  public var wrong: Int64 = 0

  /// Nothing counted yet under `code`.
  public init(code: String) { self.code = code }

  /// `found` / (`found` + `missed`) in millionths; nil when there is nothing to divide by.
  public var recall: Int64? { share(of: found + missed) }

  /// `found` / (`found` + `wrong`) in millionths; nil when there is nothing to divide by.
  public var precision: Int64? { share(of: found + wrong) }

  /// How many of `injected` nothing in the data could show.
  public var unrevealedCount: Int64 { unrevealed.values.reduce(0, +) }

  /// The reasons with their counts, such as `no later snapshot: 3; not in the snapshot: 1`.
  public var reasons: String {
    unrevealed.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: "; ")
  }

  private func share(of whole: Int64) -> Int64? {
    guard whole > 0 else { return nil }
    return Int64(clamping: (Int128(found) * 1_000_000).dividedHalfToEven(by: Int128(whole)))
  }
}

/// Writes `rows` as CSV (RFC 4180) to `path`; docs/operations.md lists the columns.
public func writeDrill(_ rows: [DrillRow], to path: String) throws(ReportError) {
  let file = try CSVFile(path: path, dialect: .rfc4180)
  var line = CSVLine()
  for name in DrillRow.columns { line.add(plain: name) }
  try file.add(line)
  for row in rows {
    line.removeAll()
    line.add(plain: row.code)
    for count in [
      row.injected, row.found, row.renamed, row.missed, row.unrevealedCount, row.wrong,
    ] {
      line.add(count)
    }
    for share in [row.recall, row.precision] {
      if let share { line.add(micros: share, decimals: 6) } else { line.addNothing() }
    }
    line.add(text: row.reasons)
    try file.add(line)
  }
  try file.flush()
}

extension DrillRow {
  static let columns = [
    "code", "injected", "found", "renamed", "missed", "unrevealed", "false", "recall",
    "precision", "unrevealed_reasons",
  ]
}
