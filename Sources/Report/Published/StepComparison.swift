internal import Ledger
internal import Vocabulary

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

  /// What changed of `rows`, the month's rows now, and the text of rows to go on with: those that
  /// were complete and are not now, because the run looks back or something is open again.
  func run(_ rows: [RowRecord]) throws -> (changes: [RowChange], carried: [UInt8]) {
    var changes: [RowChange] = []
    var carried: [UInt8] = []
    var old = shape.byKey(try publishedRows())
    for row in rows where shape.isComplete(row) {
      let key = shape.key(of: row)
      let then = old.removeValue(forKey: key)
      guard try then != nil || lastRun(row) != nil else {
        isChanged = true
        continue
      }
      if let change = try change(key, then, row, feed: row) { changes.append(change) }
    }
    let open = Set(rows.map(shape.key(of:)))
    for (key, row) in old.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      let isGone =
        !open.contains(key) && history.isComplete(month, kind, feed: shape.feed(of: row))
      if isGone {
        if let change = try change(key, row, nil, feed: row) { changes.append(change) }
      } else {
        carried += Array(row.text.utf8)
        carried.append(UInt8(ascii: "\n"))
      }
    }
    if !changes.isEmpty { isChanged = true }
    return (changes, carried)
  }

  private func change(
    _ key: String, _ then: RowRecord?, _ now: RowRecord?, feed: RowRecord
  ) throws -> RowChange? {
    let columns = shape.differences(then, now)
    guard !columns.isEmpty else { return nil }
    let last = try lastRun(feed) ?? head?.run ?? 0
    return RowChange(
      key: key, published: then, restated: now, run: then == nil ? last : head?.run ?? last,
      since: last, columns: columns)
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
