internal import EventStore
internal import Domain

/// Compares the rows of one month with the last publication in which each was complete.
final class StepComparison {
  /// Whether there is anything to keep: a number changed, or a row is complete for the first time.
  private(set) var isChanged = false
  private let history: PublishedHistory
  private let shape: RowShape
  private let month: Month
  private let kind: HorizonKind
  private let head: PublishedHead?

  init(
    _ history: PublishedHistory, _ shape: RowShape, _ month: Month, _ kind: HorizonKind,
    _ head: PublishedHead?
  ) {
    self.history = history
    self.shape = shape
    self.month = month
    self.kind = kind
    self.head = head
  }

  /// What changed of `rows`, the month's rows now, and the text of rows to go on with beside the
  /// complete ones: those that were complete and are not now, because the run looks back or
  /// something is open again, and those that were shown and were never complete.
  func run(_ rows: [RowRecord]) throws -> (changes: [RowChange], carried: [UInt8]) {
    var changes: [RowChange] = []
    var carried: [UInt8] = []
    func carry(_ row: RowRecord, _ standing: KeptStanding) {
      carried += Array(row.kept(as: standing).text.utf8)
      carried.append(UInt8(ascii: "\n"))
    }
    var old = shape.byKey(try publishedRows())
    for row in rows where shape.isComplete(row) {
      let key = shape.key(of: row)
      let then = old.removeValue(forKey: key)
      let isNews = try then == nil && lastRun(row) == nil
      guard !isNews, then?.keptStanding != .neverComplete else {
        isChanged = true
        continue
      }
      if let change = try change(key, then, row, feed: row) { changes.append(change) }
    }
    let open = shape.byKey(rows.filter { !shape.isComplete($0) })
    for (key, row) in old.sorted(by: { $0.key.precedes($1.key) }) {
      let isGone =
        open[key] == nil && history.isComplete(month, kind, feed: shape.feed(of: row))
      switch row.keptStanding {
      case .neverComplete:
        if isGone { isChanged = true } else { carry(row, .neverComplete) }
      case _ where !isGone: carry(row, .publishedBy(publisher(of: row)))
      case .complete, .publishedBy:
        if let change = try change(key, row, nil, feed: row) { changes.append(change) }
      }
    }
    // A row that waits for itself alone is shown while its feed is complete: not from nothing.
    for (key, row) in open.sorted(by: { $0.key.precedes($1.key) })
    where old[key] == nil && history.isComplete(month, kind, feed: shape.feed(of: row)) {
      carry(row, .neverComplete)
      isChanged = true
    }
    if !changes.isEmpty { isChanged = true }
    return (changes, carried)
  }

  private func change(
    _ key: ExactText, _ then: RowRecord?, _ now: RowRecord?, feed: RowRecord
  ) throws -> RowChange? {
    let columns = shape.differences(then, now)
    guard !columns.isEmpty else { return nil }
    let last = try lastRun(feed) ?? head?.run ?? 0
    let publisher = then.map(publisher(of:)) ?? last
    // A feed that is complete says nothing of when a row that waited for itself was.
    let waited = if case .publishedBy = then?.keptStanding { kind == .ended } else { false }
    return RowChange(
      key: key, published: then, restated: now, run: publisher, since: waited ? publisher : last,
      columns: columns)
  }

  /// The run that published a kept row first as complete.
  private func publisher(of row: RowRecord) -> Int64 {
    if case .publishedBy(let run) = row.keptStanding { run } else { head?.run ?? 0 }
  }

  /// The last earlier run whose rows of the feed were complete.
  private func lastRun(_ row: RowRecord) throws -> Int64? {
    try history.newestPublication(completing: month, kind, feed: shape.feed(of: row))
  }

  private func publishedRows() throws -> [RowRecord] {
    guard let head else { return [] }
    let text = try history.ledger.publishedRows(
      of: shape.layout.name, zone: history.plan.zone, month: month, run: head.run)
    return RowRecord.rows(of: text ?? [])
  }
}
