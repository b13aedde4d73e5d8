internal import Domain

/// Delivered events that do not fit into memory, until all are written together.
///
/// They are sorted runs in temporary tables, in an unnamed file that SQLite deletes. Written
/// together, they touch the row of each lineage once, however many runs there are.
struct SpillFile {
  /// Consecutive rows, sorted by key, and their users.
  struct Run {
    let number: Int64
    let rows: Range<Int64>
    let bytes: Int
  }

  private var runs: [Run] = []
  private var nextRun: Int64 = 1
  private var nextRow: Int64 = 1

  var count: Int { runs.count }

  var isOpen: Bool { nextRun > 1 }

  /// Size on disk, in bytes, approximately.
  var size: Int { runs.reduce(0) { $0 + $1.bytes } }

  /// Writes `events` as a sorted run.
  mutating func add(_ events: any DeliveredEvents, in database: Connection) throws {
    if !isOpen {
      try clear(in: database)
      try database.execute(
        """
        create temp table event_spill (
          number integer primary key, key integer, provider integer, app integer,
          environment integer, store integer, original, is_last integer, events blob);
        create temp table user_spill (key integer, run integer, id text, primary key (key, run))
          without rowid
        """)
    }
    let insertion = try database.statement(
      "insert into temp.event_spill values (?, ?, ?, ?, ?, ?, ?, ?, ?)")
    let first = nextRow
    var bytes = 0
    var records = ByteWriter()
    try events.forEachLineage { head, parts in
      try parts { delivered, isLast in
        try database.checkStop()
        records.reset()
        EventRecords.encode(delivered, to: &records)
        let scope = head.scope
        try insertion.run(
          nextRow, scope.lineage, scope.provider, scope.app, scope.environment, scope.store,
          OriginalID(id: head.original), isLast, records.bytes)
        nextRow += 1
        bytes += head.original.count + records.bytes.count + 24
      }
    }
    let user = try database.statement(
      "insert into temp.user_spill (key, run, id) values (?, ?, ?)")
    try events.forEachUser { key, id in
      user.bind(1, key)
      user.bind(2, nextRun)
      user.bind(3, text: id)
      try user.run()
      bytes += id.count + 16
    }
    runs.append(Run(number: nextRun, rows: first..<nextRow, bytes: bytes))
    nextRun += 1
  }

  /// Drops the runs after the first `count`; their rows stay until all are removed.
  mutating func drop(after count: Int) { runs.removeSubrange(count...) }

  /// Removes all runs and frees their space.
  mutating func clear(in database: Connection) throws {
    try database.execute(
      "drop table if exists temp.event_spill; drop table if exists temp.user_spill")
    self = SpillFile()
  }

  func events(of numbers: Range<Int>, in database: Connection) -> any DeliveredEvents {
    MergedEvents(runs: Array(runs[numbers]), database: database)
  }
}

/// Several runs, merged while they are read.
private struct MergedEvents: DeliveredEvents {
  let runs: [SpillFile.Run]
  let database: Connection

  func forEachLineage(_ body: (LineageHead, DeliveredParts) throws -> Void) throws {
    let rows = try runs.map { try SpilledRun(database, rows: $0.rows) }
    defer { for run in rows { run.rows.reset() } }
    var part: [EventRecord] = []
    while let head = rows.lazy.compactMap(\.head).min(by: { $0.key < $1.key }) {
      let own = rows.filter { $0.head?.key == head.key }
      guard own.allSatisfy({ $0.head?.isSame(as: head) ?? false }) else {
        throw SubledgerError.collision
      }
      let original = Array(head.original)
      try original.withUnsafeBytes {
        try body(LineageHead(scope: head.scope, original: $0)) { take in
          part.removeAll(keepingCapacity: true)
          while let run = first(of: own), let event = run.take() {
            part.append(event)
            guard run.next == nil, !run.isLast else { continue }
            try database.checkStop()
            // The next row overwrites this one.
            try take(part, false)
            part.removeAll(keepingCapacity: true)
            try run.advance()
          }
          try take(part, true)
        }
      }
      for run in own { try run.advance() }
    }
  }

  /// Returns the run whose next event comes first; of copies, the earlier run.
  private func first(of runs: [SpilledRun]) -> SpilledRun? {
    var first: SpilledRun?
    for run in runs {
      guard let event = run.next else { continue }
      if first?.next.map({ event.precedes($0) }) ?? true { first = run }
    }
    return first
  }

  func pieces(_ rules: MergeRules) -> [RowPiece<NewLineages>]? { nil }

  func forEachUser(_ body: (Int64, UnsafeRawBufferPointer) throws -> Void) throws {
    guard !runs.isEmpty else { return }
    let numbers = runs.map { "\($0.number)" }.joined(separator: ", ")
    try Statement(
      database,
      "select key, id from temp.user_spill where run in (\(numbers)) group by key order by key"
    ).forEachRow { try body($0.int64(0), $0.bytes(1)) }
  }
}

/// A run, and the position where it is read.
private final class SpilledRun {
  let rows: Statement
  /// The lineage of the row; nil at the end.
  private(set) var head: LineageHead?
  /// Events of the row, valid like `head` until the next one is read.
  private var events: [EventRecord] = []
  private var place = 0
  private(set) var isLast = true

  init(_ database: Connection, rows range: Range<Int64>) throws {
    rows = try Statement(
      database,
      """
      select key, provider, app, environment, store, original, is_last, events
      from temp.event_spill where number >= ? and number < ? order by number
      """)
    rows.bindAll(range.lowerBound, range.upperBound)
    try advance()
  }

  var next: EventRecord? { place < events.count ? events[place] : nil }

  func take() -> EventRecord? {
    defer { place += 1 }
    return next
  }

  /// Reads the next row.
  func advance() throws {
    (head, place) = (nil, 0)
    events.removeAll(keepingCapacity: true)
    guard try rows.step() else { return }
    head = LineageHead(scope: try SubscriptionScope(rows), original: rows.bytes(5))
    isLast = rows.int64(6) != 0
    try EventRecords.forEach(in: rows.blob(7)) { events.append($0) }
  }
}
