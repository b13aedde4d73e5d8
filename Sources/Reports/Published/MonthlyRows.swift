internal import Formats
internal import EventStore
internal import Domain

/// Compares the rows of a monthly report, month by month, with the published or closed rows.
///
/// A month whose complete rows have the hash of its last version needs no further comparison. One
/// month is in memory at a time; cohorts, whose rows have another order, need all months.
final class MonthlyRows {
  /// The new versions, the numbers of rows, and rows with other numbers than before.
  private(set) var written: WrittenReports
  private let history: PublishedHistory
  private let shape: RowShape
  private let hashes: [Month: String]
  private var rows: [Month: [ReportRow]] = [:]
  /// Published or closed months that are not yet compared.
  private var waiting: Set<Month>

  /// Nil for a report without monthly rows.
  init?(_ definition: ReportDefinition, history: PublishedHistory) throws {
    guard definition.isMonthly else { return nil }
    self.history = history
    written = WrittenReports(plan: history.plan)
    shape = RowShape(definition)
    hashes = try history.ledger.publishedHashes(
      of: definition.name, zone: history.plan.zone, before: history.first)
    waiting = Set(hashes.keys).union(history.closes.keys)
  }

  func add(_ cells: [LedgerValue]) throws {
    let month = shape.month(of: cells)
    if shape.monthsLater == nil, rows[month] == nil { try compareAll() }
    rows[month, default: []].append(shape.row(cells))
  }

  /// Compares the remaining months, also months without rows.
  func finish() throws {
    try compareAll()
    for month in waiting.sorted() { try compare(month, []) }
  }

  private func compareAll() throws {
    let ready = rows.sorted { $0.key < $1.key }
    rows = [:]
    for (month, rows) in ready {
      let open = shape.definition.completeness == nil ? 0 : rows.count { !$0.isComplete }
      written.publication.months[month] = (Int64(rows.count), Int64(open))
      waiting.remove(month)
      try compare(month, rows)
    }
  }

  private func compare(_ month: Month, _ rows: [ReportRow]) throws {
    try history.plan.checkStop()
    let changes = try changesSincePublication(month, rows)
    if let close = history.closes[month] {
      guard history.plan.rules.asOf >= close.asOf else { return }
      written.restated += try changesSinceClose(close, month, rows, changes)
    } else {
      written.restated += changes
    }
  }

  /// Compares each row with the last publication in which it was complete, and records the version.
  ///
  /// A row that was complete and no longer is, because the run looks at the past or a late trial is
  /// pending, stays unchanged in the ledger.
  private func changesSincePublication(
    _ month: Month, _ rows: [ReportRow]
  ) throws -> [Restatement] {
    guard let kind = shape.definition.completeness else { return [] }
    let complete = rows.filter(\.isComplete)
    let sha256 = Formats.sha256(of: complete.packed)
    // A trial waits only for its own end, so its row can be incomplete while its feed is complete.
    let isWaiting = kind == .ended && complete.count < rows.count
    let known = hashes[month]
    guard known != nil || !complete.isEmpty || isWaiting, known != sha256 || isWaiting else {
      return []
    }
    var previous = try published(month)
    var changed: [PublishedRow] = []
    var changes: [Restatement] = []
    func change(_ key: [UInt8], _ old: ReportRow?, _ new: ReportRow?, _ run: Int64) throws {
      let last = try lastRun(month, kind, key) ?? run
      let change = try restatement(month, key, old, new, run: run, since: last)
      if let change { changes.append(change) }
      changed.append((key, new, change?.cause.rawValue))
    }
    for row in complete {
      let old = previous.removeValue(forKey: row.key)
      if let old, old.row.isComplete {
        if old.row.values != row.values { try change(row.key, old.row, row, old.run) }
      } else if old == nil, let last = try lastRun(month, kind, row.key) {
        try change(row.key, nil, row, last)
      } else {
        changed.append((row.key, row, nil))
      }
    }
    for row in rows where !row.isComplete {
      let old = previous.removeValue(forKey: row.key)
      guard try history.isComplete(month, kind, feed(row.key)) else { continue }
      if let old {
        // What was complete stays the version to compare with, until the row is complete again.
        guard old.row.isComplete, let run = try history.ledger.run(old.run),
          history.plan.rules.asOf >= run.asOf,
          let change = try restatement(month, row.key, old.row, row, run: old.run, since: old.run)
        else { continue }
        changes.append(change)
      } else {
        // Recorded because its feed is complete: when the row completes, it is not a late one.
        changed.append((row.key, row, nil))
      }
    }
    for (key, old) in previous where try history.isComplete(month, kind, feed(key)) {
      if old.row.isComplete {
        try change(key, old.row, nil, old.run)
      } else {
        changed.append((key, nil, nil))
      }
    }
    if !changed.isEmpty, history.first == history.plan.run {
      written.publication.versions.append(
        (report: shape.definition.name, month: month, sha256: sha256, rows: changed))
    }
    return changes
  }

  /// Compares each row with the one that a close froze; the strongest cause since then counts.
  private func changesSinceClose(
    _ close: MonthClose, _ month: Month, _ rows: [ReportRow], _ newest: [Restatement]
  ) throws -> [Restatement] {
    // A report without rows of the month was not frozen: every row of it is new.
    let frozen =
      try history.ledger.closedReports(act: close.act, only: shape.definition.name).first?.rows
      ?? []
    guard frozen != rows else { return [] }
    let stored = try history.ledger.restatementCauses(
      of: shape.definition.name, zone: history.plan.zone, month: month, after: close.run,
      before: history.plan.run)
    let causes = stored.compactMap { key, text in Cause(rawValue: text).map { (key, $0) } }
    let known = Dictionary(causes + newest.map { ($0.key, $0.cause) }, uniquingKeysWith: min)
    var old = Dictionary(frozen.map { ($0.key, $0) }) { first, _ in first }
    var changes: [Restatement] = []
    func compare(_ key: [UInt8], _ old: ReportRow?, _ new: ReportRow?) throws {
      let found = try restatement(
        month, key, old, new, run: close.run, since: close.run, cause: known[key])
      guard var change = found else { return }
      // An ordinary change, such as the end of a trial, was not late.
      let wasOpen = shape.definition.completeness != nil && old?.isComplete == false
      if known[key] == nil, change.cause == .lateEvent, wasOpen { change.cause = .incomplete }
      changes.append(change)
    }
    for row in rows { try compare(row.key, old.removeValue(forKey: row.key), row) }
    for (key, row) in old { try compare(key, row, nil) }
    return changes
  }

  /// The difference of two versions of a row; nil if no number differs.
  private func restatement(
    _ month: Month, _ key: [UInt8], _ old: ReportRow?, _ new: ReportRow?, run: Int64,
    since: Int64, cause: Cause? = nil
  ) throws -> Restatement? {
    let (before, after) = (shape.values(of: old), shape.values(of: new))
    let places = shape.values.indices.filter { before[$0] != after[$0] }
    guard !places.isEmpty else { return nil }
    let names = places.map { shape.definition.columns[shape.values[$0]].name }
    return Restatement(
      shape: shape, month: month, key: key, run: run,
      cause: try cause
        ?? shape.definition.cause(
          of: Set(names), shape.product(of: key, in: history.ledger), month,
          history.changes(since: since)),
      cells: places.map { (shape.values[$0], before[$0], after[$0]) })
  }

  private func published(_ month: Month) throws -> [[UInt8]: (row: ReportRow, run: Int64)] {
    guard hashes[month] != nil else { return [:] }
    return try history.ledger.publishedRows(
      of: shape.definition.name, zone: history.plan.zone, month: month, before: history.first)
  }

  private func feed(_ key: [UInt8]) throws -> Feed? {
    try shape.product(of: key, in: history.ledger).feed
  }

  /// The last earlier run in which the rows of the key's feed were complete.
  private func lastRun(_ month: Month, _ kind: HorizonKind, _ key: [UInt8]) throws -> Int64? {
    try history.lastRun(completing: month, kind, try feed(key))
  }
}
