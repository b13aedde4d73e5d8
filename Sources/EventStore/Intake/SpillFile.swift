internal import Domain

/// Delivered events that do not fit into memory, until all are written together.
///
/// They lie in sorted runs in tables of the connection's own, in a file of SQLite's that has no
/// name and is gone with the connection. Written together, however many runs there are, they touch
/// the row of each lineage once.
struct SpillFile {
  /// Rows that follow each other, sorted by key, and the users that they name.
  private struct Run {
    let number: Int64
    let rows: Range<Int64>
    let bytes: Int
  }

  private var runs: [Run] = []
  private var nextRun: Int64 = 1
  private var nextRow: Int64 = 1

  var count: Int { runs.count }

  var isOpen: Bool { nextRun > 1 }

  /// What they take on the disk, in bytes, about.
  var size: Int { runs.reduce(0) { $0 + $1.bytes } }

  /// Writes `events` as a sorted run.
  mutating func add(_ events: any DeliveredEvents, in database: Connection) throws {
    if !isOpen {
      try clear(in: database)
      try database.execute(
        """
        create temp table event_spill (number integer primary key, key integer, content blob);
        create temp table user_aside (key integer, run integer, id text, primary key (key, run))
          without rowid
        """)
    }
    let insertion = try database.statement(
      "insert into temp.event_spill (number, key, content) values (?, ?, ?)")
    let first = nextRow
    var bytes = 0
    var coding = DeliveredCoding()
    try events.forEachLineage { head, delivered in
      coding.encode(head, delivered)
      try insertion.run(nextRow, head.key, coding.writer.bytes)
      nextRow += 1
      bytes += coding.writer.bytes.count + 16
    }
    let user = try database.statement(
      "insert into temp.user_aside (key, run, id) values (?, ?, ?)")
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

  /// Forgets the runs behind the first `count`; their rows stay until all go.
  mutating func drop(after count: Int) { runs.removeSubrange(count...) }

  /// Removes all runs and frees their space.
  mutating func clear(in database: Connection) throws {
    try database.execute(
      "drop table if exists temp.event_spill; drop table if exists temp.user_aside")
    self = SpillFile()
  }

  func events(of numbers: Range<Int>, in database: Connection) -> any DeliveredEvents {
    MergedEvents(
      lineages: runs[numbers].map(\.rows), runs: runs[numbers].map(\.number), database: database)
  }
}

/// Several runs, gone through at once.
private struct MergedEvents: DeliveredEvents {
  let lineages: [Range<Int64>]
  let runs: [Int64]
  let database: Connection

  func forEachLineage(_ body: (LineageHead, [DeliveredEvent]) throws -> Void) throws {
    let rows = try lineages.map { run in
      let rows = try Statement(
        database,
        """
        select key, content from temp.event_spill where number >= ? and number < ?
        order by number
        """)
      rows.bindAll(run.lowerBound, run.upperBound)
      return rows
    }
    defer { for run in rows { run.reset() } }
    // Beside its key, whether a run has one more row.
    var keys = try rows.map { try $0.step() ? $0.int64(0) : nil }
    var events: [DeliveredEvent] = []
    while let key = keys.least {
      events.removeAll(keepingCapacity: true)
      var head: LineageHead?
      for (run, next) in keys.enumerated() where next == key {
        let other = try DeliveredCoding.decode(rows[run].blob(1), key: key, into: &events)
        guard head?.isSame(as: other) ?? true else { throw SubledgerError.collision }
        head = other
      }
      events.arrange()
      if let head { try body(head, events) }
      for (run, next) in keys.enumerated() where next == key {
        keys[run] = try rows[run].step() ? rows[run].int64(0) : nil
      }
    }
  }

  func pieces(_ rules: MergeRules) -> [RowPiece<NewLineages>]? { nil }

  func forEachUser(_ body: (Int64, UnsafeRawBufferPointer) throws -> Void) throws {
    guard !runs.isEmpty else { return }
    let numbers = runs.map { "\($0)" }.joined(separator: ", ")
    try Statement(
      database,
      "select key, id from temp.user_aside where run in (\(numbers)) group by key order by key"
    ).forEachRow { try body($0.int64(0), $0.bytes(1)) }
  }
}

extension [Int64?] {
  var least: Int64? {
    reduce(nil) { least, key in key.map { Swift.min($0, least ?? $0) } ?? least }
  }
}
