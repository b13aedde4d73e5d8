import EventStore
import Domain

/// Entries on their way from the order of the walk to that of business time.
///
/// A number may rest on millions of events, so they wait in a temporary table, which SQLite sorts
/// on disk.
final class EntryStore {
  private let ledger: Ledger
  private var waiting: [[LedgerValue]] = []
  private var count: Int64 = 0

  init(_ ledger: Ledger) throws {
    self.ledger = ledger
    try ledger.rows(sql: "drop table if exists temp.explained") { _ in }
    try ledger.rows(
      sql: """
        create temp table explained (
          entry, place, at_ms, step, shares, break_id, is_context, provider, app, environment,
          store, user, subscription, transaction_id, product, kind, told_as, event_ms, created_ms,
          received_ms, archive, sha256, line, byte_offset, body)
        """
    ) { _ in }
  }

  func add(_ entry: Entry) throws {
    let shares = entry.shares.map { "\($0.column)\(between)\($0.text)" }.joined(separator: after)
    let head: [LedgerValue] = [
      entry.at.value, .text(entry.step), .text(shares), .text(entry.breakID),
    ]
    let events = entry.events.isEmpty ? [EventLine()] : entry.events
    for (index, event) in events.enumerated() {
      let place = entry.events.isEmpty ? -1 : Int64(index)
      waiting.append([.integer(count), .integer(place)] + head + event.values)
    }
    count += 1
    if waiting.count > 256 { try flush() }
  }

  /// Calls `body` at every entry, by business time, then as they were added.
  func forEach(_ body: (Entry) throws -> Void) throws {
    try flush()
    var entry: (number: Int64, entry: Entry)?
    try ledger.rows(
      sql: """
        select * from temp.explained order by at_ms is null, at_ms, entry, place
        """
    ) { row in
      let number = row.int64(0)
      if let done = entry, done.number != number { try body(done.entry) }
      if entry?.number != number { entry = (number, Entry(row)) }
      if row.int64(1) >= 0 { entry?.entry.events.append(EventLine(row)) }
    }
    if let done = entry { try body(done.entry) }
  }

  private func flush() throws {
    try ledger.insert(waiting, intoTemporary: "explained")
    waiting.removeAll(keepingCapacity: true)
  }
}

/// Between a column and its share, and between two shares: separators that no number holds.
private let between = "\u{1f}"
private let after = "\u{1e}"

extension Instant? {
  var value: LedgerValue { map { .integer($0.milliseconds) } ?? .null }
}

extension Entry {
  init(_ row: LedgerRow) {
    at = row.instant(2)
    step = row.text(3)
    shares = row.text(4).split(separator: after).map { pair in
      let parts = pair.split(separator: between, omittingEmptySubsequences: false)
      return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
    }
    breakID = row.text(5)
  }
}

extension EventLine {
  var values: [LedgerValue] {
    [
      .integer(isContext ? 1 : 0), .text(provider), .text(app), .text(environment), .text(store),
      .text(user), .text(subscription), .text(transaction), .text(product), .text(kind),
      .text(toldAs), .integer(time.milliseconds), created.value, received.value, .text(archive),
      .text(sha256), .integer(line), .integer(byteOffset), .integer(body),
    ]
  }

  init(_ row: LedgerRow) {
    isContext = row.int64(6) != 0
    provider = row.text(7)
    app = row.text(8)
    environment = row.text(9)
    store = row.text(10)
    user = row.text(11)
    subscription = row.text(12)
    transaction = row.text(13)
    product = row.text(14)
    kind = row.text(15)
    toldAs = row.text(16)
    time = Instant(milliseconds: row.int64(17))
    created = row.instant(18)
    received = row.instant(19)
    archive = row.text(20)
    sha256 = row.text(21)
    line = row.int64(22)
    byteOffset = row.int64(23)
    body = row.int64(24)
  }
}

extension LedgerRow {
  func instant(_ column: Int) -> Instant? {
    isNull(column) ? nil : Instant(milliseconds: int64(column))
  }
}
