internal import Domain
internal import EventStore

func checkFacts(in ledger: Ledger) throws {
  for (name, query) in factChecks {
    var wrong: [String] = []
    try ledger.rows(sql: "\(String(decoding: query, as: UTF8.self)) limit 10") {
      wrong.append($0.text(0))
    }
    if !wrong.isEmpty { throw SubledgerError.identity(name: name, rows: wrong) }
  }
}

/// Compares printed sums with sums of the cells, to find rows that a report lost.
func checkTotals(of tables: [ReportTable], in ledger: Ledger) throws {
  var wrong: [String] = []
  try ledger.rows(sql: String(decoding: PackageResources.check_totals_sql, as: UTF8.self)) { row in
    let (report, measure) = (row.text(0), row.text(1))
    let own = tables.filter { ReportDefinition.of($0.path)?.name == report }
    let printed = own.compactMap { $0.controlTotals[measure].flatMap { Int128($0) } }.reduce(0, +)
    if printed != Int128(row.number(2)) {
      wrong.append("\(report).\(measure): \(printed) printed, \(row.number(2)) in the cells")
    }
  }
  if !wrong.isEmpty { throw SubledgerError.identity(name: "printed = cells", rows: wrong) }
}

extension SubledgerError {
  /// An error for numbers that must agree but differ; `rows` names the first of them.
  static func identity(name: String, rows: [String]) -> SubledgerError {
    SubledgerError(
      .identity,
      "cannot publish: the identity \"\(name)\" does not hold for \(rows.joined(separator: "; "))",
      hint: identityHint)
  }

  /// An error for a sum of `column` beyond ±9,223,372,036,854 units, which is not stored exactly.
  static func overflow(report: String, column: String) -> SubledgerError {
    SubledgerError(
      .overflow,
      "cannot write \(column) of \(report): a sum exceeds the range of exact numbers",
      hint: "look in the archives for amounts that cannot be true")
  }
}

/// What to do when numbers that must agree differ.
public let identityHint =
  "`subledger verify` says whether the ledger is damaged: then put a backup in its place or "
  + "rebuild it; if not, keep it and report the line above"

/// The identities that must hold in every set, in words.
public var identityNames: [String] { factChecks.map(\.0) + ["printed = cells", chargesIdentity] }

private let factChecks: [(String, [UInt8])] = [
  ("lines = accepted + duplicates + skipped + rejected", PackageResources.check_lines_sql),
  (
    "churned = sum of its reasons >= churned in doubt, active >= 0",
    PackageResources.check_movements_sql
  ),
  ("transferred in = transferred out", PackageResources.check_transfers_sql),
  ("started = converted + expired + pending", PackageResources.check_trials_sql),
]
