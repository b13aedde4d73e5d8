internal import Formats
internal import EventStore
internal import Domain

/// The rows of a monthly report on their way to the file, month by month, beside those that were
/// published before.
///
/// A month that is as it was costs its hash. One month is held at a time; of cohorts, whose rows
/// come by another order, all.
final class MonthlyRows: RowSink {
  /// Versions of rows to keep, of months that are not as they were.
  private(set) var published: [PublishedRows] = []
  private let history: PublishedHistory
  private let shape: RowShape
  private let causes: Causes
  private let restatements: RestatementPart
  private let heads: [Month: PublishedHead]
  /// The newest versions that are kept, those of the same publication said before among them.
  private let kept: [Month: PublishedHead]
  /// How many rows each month has.
  private(set) var months: [Month: MonthRows] = [:]
  private var segments: [Month: Segment] = [:]
  /// Months that were published or closed and not yet compared, the earliest last.
  private var waiting: [Month]
  private let digest = SHA256Digest()

  /// The rows of one month as printed exactly.
  private struct Segment {
    var text: [UInt8] = []
    /// The part of `text` that complete rows make up.
    var complete: [UInt8] = []
    /// How many rows there are.
    var rows = MonthRows()

    /// Whether a row waits for what only itself depends on, where rows do.
    var isWaiting: Bool { rows.incomplete > 0 }

    mutating func add(_ line: [UInt8], isComplete: Bool) {
      rows.count += 1
      text += line
      text.append(UInt8(ascii: "\n"))
      guard isComplete else {
        rows.incomplete += 1
        return
      }
      complete += line
      complete.append(UInt8(ascii: "\n"))
    }
  }

  /// Nil for a report that speaks of no months.
  init?(_ layout: ReportDefinition, history: PublishedHistory?, folder: String) throws {
    guard let history, layout.isMonthly else { return nil }
    self.history = history
    shape = RowShape(layout)
    func newest(before run: Int64) throws -> [Month: PublishedHead] {
      try history.ledger.publishedHeads(
        of: layout.name, zone: history.plan.zone, before: run)
    }
    heads = try newest(before: history.first)
    kept = history.first == history.plan.run ? heads : try newest(before: history.plan.run)
    causes = Causes(history, shape)
    restatements = RestatementPart(layout, plan: history.plan, folder: folder)
    waiting = Set(heads.keys).union(history.closes.keys).sorted(by: >)
  }

  /// Adds a row of these values, printed exactly as `line`.
  func add(_ value: (Int) -> Int64?, line: [UInt8], isComplete: Bool) throws {
    var month = Month(number: Int32(truncatingIfNeeded: value(0) ?? 0))
    if let column = shape.monthsLater {
      month.number += Int32(truncatingIfNeeded: value(column) ?? 0)
    } else if segments[month] == nil {
      try settleAll()
    }
    segments[month, default: Segment()].add(line, isComplete: isComplete)
  }

  /// Compares what is left, months without rows among it.
  func finish() throws {
    try settleAll()
    while let month = waiting.popLast() {
      try history.plan.checkStop()
      try settle(month, Segment())
    }
    try restatements.finish()
  }

  private func settleAll() throws {
    let ready = segments
    segments = [:]
    for (month, segment) in ready.sorted(by: { $0.key < $1.key }) {
      if shape.layout.completeness != nil {
        months[month] = (months[month] ?? MonthRows()).adding(segment.rows)
      }
      while let earlier = waiting.last, earlier < month {
        waiting.removeLast()
        try settle(earlier, Segment())
      }
      if waiting.last == month { waiting.removeLast() }
      try settle(month, segment)
    }
  }

  private func settle(_ month: Month, _ segment: Segment) throws {
    let step = try step(month, segment)
    if let close = history.closes[month] {
      if history.plan.rules.asOf >= close.asOf {
        try settle(month, segment, against: close, step)
      }
    } else {
      try restatements.add(step, of: month, shape)
    }
  }

  /// What changed since the last publication; keeps the new version.
  private func step(_ month: Month, _ segment: Segment) throws -> [(RowChange, Cause)] {
    guard let kind = shape.layout.completeness else { return [] }
    let head = heads[month]
    let sha256 = hash(segment.complete)
    let isWaiting = kind == .ended && segment.isWaiting
    guard head != nil || !segment.complete.isEmpty || isWaiting,
      head?.sha256 != sha256 || isWaiting
    else { return [] }
    guard try head != nil || isWaiting || history.wasComplete(month, kind) else {
      keep(month, sha256, segment.complete, [])
      return []
    }
    let comparison = StepComparison(history, shape, month, kind, head)
    let (changes, carried) = try comparison.run(RowRecord.rows(of: segment.text))
    let step = try changes.map { ($0, try causes.cause(of: $0, month)) }
    guard comparison.isChanged else { return step }
    let rows = segment.complete + carried
    keep(month, carried.isEmpty ? sha256 : hash(rows), rows, step)
    return step
  }

  private func keep(
    _ month: Month, _ sha256: String, _ rows: [UInt8], _ step: [(RowChange, Cause)]
  ) {
    guard kept[month]?.sha256 != sha256 else { return }
    let text = step.map { "\($0.1.rawValue),\($0.0.key.text)\n" }.joined()
    published.append(
      PublishedRows(
        report: shape.layout.name, month: month, sha256: sha256, rows: rows,
        causes: Array(text.utf8)))
  }

  /// What changed since a month was closed, each row with the strongest cause since.
  private func settle(
    _ month: Month, _ segment: Segment, against close: MonthClose, _ step: [(RowChange, Cause)]
  ) throws {
    // A report without rows of the month is not there: every row of it has come since.
    let frozen = try history.ledger.closedRows(of: shape.layout.name, act: close.act) ?? []
    guard frozen != segment.text else { return }
    let changes = try closeChanges(frozen, segment.text, close)
    guard !changes.isEmpty else { return }
    var known = try causes.published(month, after: close.run)
    for (change, cause) in step {
      known[change.key] = min(cause, known[change.key] ?? cause)
    }
    let told = try changes.map { change in
      if let cause = known[change.key] { return (change, cause) }
      let cause = try causes.cause(of: change, month)
      // What merely went on, such as a trial that ended, did not come late.
      let wentOn = cause == .lateEvent && isOpen(change.published)
      return (change, wentOn ? Cause.incomplete : cause)
    }
    try restatements.add(told, of: month, shape)
  }

  private func isOpen(_ row: RowRecord?) -> Bool {
    guard shape.layout.completeness != nil, let row else { return false }
    return !shape.isComplete(row)
  }

  private func closeChanges(
    _ frozen: [UInt8], _ current: [UInt8], _ close: MonthClose
  ) throws -> [RowChange] {
    var old = shape.byKey(RowRecord.rows(of: frozen))
    var changes: [RowChange] = []
    func compare(_ key: ExactText, _ then: RowRecord?, _ now: RowRecord?) {
      let columns = shape.differences(then, now)
      guard !columns.isEmpty else { return }
      changes.append(
        RowChange(
          key: key, published: then, restated: now, run: close.run, since: close.run,
          columns: columns))
    }
    for row in RowRecord.rows(of: current) {
      let key = shape.key(of: row)
      compare(key, old.removeValue(forKey: key), row)
    }
    for (key, row) in old { compare(key, row, nil) }
    return changes
  }

  /// Where the lines of the restatements wait; nil when there are none.
  var part: RestatementPart.Written? {
    restatements.written.rows > 0 ? restatements.written : nil
  }

  private func hash(_ bytes: [UInt8]) -> String {
    bytes.withUnsafeBytes { digest.update($0) }
    return digest.finish()
  }
}

extension RowShape {
  func byKey(_ rows: [RowRecord]) -> [ExactText: RowRecord] {
    Dictionary(rows.map { (key(of: $0), $0) }, uniquingKeysWith: { first, _ in first })
  }
}
