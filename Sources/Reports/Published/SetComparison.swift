// Finds the cells that differ between two published sets.
internal import Domain
internal import EventStore

/// Compares two report sets, row by row of equal key, whatever dialect they are printed in.
public struct SetComparison {
  private let before: ReportSet
  private let after: ReportSet
  private let rows: RowPairs
  private let causes: RowPairs

  /// The columns of a differing cell.
  ///
  /// `period` is the first key column, a month, a day or an id; `key` the others, joined by commas.
  /// A cell is empty when unknown or without a row, and the delta if a number is unknown; a missing
  /// row counts as 0. The cause is that of this exact change in the later set's `restatements.csv`.
  public static let columns = [
    "report", "period", "key", "column", "before", "after", "delta", "cause",
  ]

  /// Compares two sets, which must be published.
  public init(_ before: ReportSet, _ after: ReportSet) throws {
    (self.before, self.after) = (before, after)
    (rows, causes) = (try RowPairs(), try RowPairs())
    let columns = ["report", "period", "key", "column", "published", "restated", "cause"]
    try after.forEachRow(of: ReportDefinition.restatements.name, columns) { cells in
      // A cohort's key contains its month; other keys follow the month.
      for key in [cells[2], "\(cells[1]),\(cells[2])"] {
        try causes.put(
          cells[4...].joined(separator: boundary), .after,
          key: [cells[0], key, cells[3]].joined(separator: boundary))
      }
    }
  }

  /// Calls `body` with the `columns` of every differing cell, by report, month and key; totals of
  /// months come first.
  ///
  /// - Throws: `SubledgerError` of kind `damagedInput` for a changed file, and what `body` throws.
  public func forEachChange(_ body: ([String]) throws -> Void) throws {
    let sums = try [before, after].map {
      Checksums(reading: try readFile("\($0.folder)/\(checksumsName)") ?? [])
    }
    let previous = tables(of: before)
    let latter = tables(of: after)
    let paths = Set(previous.keys).union(latter.keys)
      .sorted { (Self.rank($0), ExactText($0)) < (Self.rank($1), ExactText($1)) }
    for path in paths where sums[0].hashes[path] != sums[1].hashes[path] {
      try compare(previous[path], latter[path], body)
    }
  }

  private static func rank(_ path: String) -> Int {
    path.hasPrefix("summary") ? 0 : path.contains("_monthly") ? 1 : 2
  }

  private func tables(of set: ReportSet) -> [String: ReportTable] {
    Dictionary(set.manifest.resources.map { ($0.path, $0) }) { first, _ in first }
  }

  private func compare(
    _ previous: ReportTable?, _ latter: ReportTable?, _ body: ([String]) throws -> Void
  ) throws {
    try rows.removeAll()
    guard let table = latter ?? previous else { return }
    let keys = table.columns.filter(\.isKey).map(\.name)
    if let previous { try put(previous, of: before, .before, by: keys) }
    if let latter { try put(latter, of: after, .after, by: keys) }
    let report = ReportDefinition.of(table.path)?.name ?? String(table.path.dropLast(4))
    let columns = [latter, previous].compactMap { $0 }.flatMap(\.columns).filter { !$0.isKey }
    var names: Set<String> = []
    let measures = columns.filter { names.insert($0.name).inserted }
    try rows.forEachDifference { key, before, after in
      let keys = parts(of: key)
      let others = keys.dropFirst().joined(separator: ",")
      let old = before.map { cells($0, of: previous) }
      let new = after.map { cells($0, of: latter) }
      for column in measures {
        let (was, now) = (old?[column.name] ?? "", new?[column.name] ?? "")
        guard was != now else { continue }
        let cell = [report, keys.joined(separator: ","), column.name].joined(separator: boundary)
        let known = try causes.row(.after, key: cell).map(parts) ?? []
        let isExplained =
          known.count == 3 && Self.isSame(known[0], old == nil ? nil : was)
          && Self.isSame(known[1], new == nil ? nil : now)
        let delta = Self.delta(old == nil ? "0" : was, new == nil ? "0" : now, column.type)
        let cause = isExplained ? known[2] : ""
        try body([report, keys.first ?? "", others, column.name, was, now, delta, cause])
      }
    }
  }

  private func put(
    _ table: ReportTable, of set: ReportSet, _ side: RowPairs.Side, by keys: [String]
  ) throws {
    let places = keys.compactMap { name in table.columns.firstIndex { $0.name == name } }
    let others = table.columns.indices.filter { !places.contains($0) }
    try set.forEachRow(of: table) { row in
      try rows.put(
        others.map { row[$0] }.joined(separator: boundary), side,
        key: places.map { row[$0] }.joined(separator: boundary))
    }
  }

  private func cells(_ row: String, of table: ReportTable?) -> [String: String] {
    let columns = table?.columns.filter { !$0.isKey } ?? []
    return Dictionary(zip(columns.map(\.name), parts(of: row))) { $1 }
  }

  /// Whether a number of `restatements.csv`, 0 or empty without a row, equals that of a set.
  private static func isSame(_ restated: String, _ cell: String?) -> Bool {
    restated == cell ?? "" || cell == nil && CSVRow.micros(of: restated.utf8) == 0
  }

  private static func delta(_ before: String, _ after: String, _ type: String) -> String {
    guard type == "integer" || type == "number", let old = CSVRow.micros(of: before.utf8),
      let new = CSVRow.micros(of: after.utf8)
    else { return "" }
    let delta = Int128(new) - Int128(old)
    return type == "integer" ? String(delta / 1_000_000) : amountText(delta)
  }
}

/// Separates joined cells; no cell contains a control character.
private let boundary = "\u{1f}"

/// The cells of a joined row, including empty ones.
private func parts(of row: String) -> [String] {
  row.split(separator: boundary, omittingEmptySubsequences: false).map(String.init)
}
