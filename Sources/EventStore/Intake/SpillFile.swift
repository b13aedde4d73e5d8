/// Delivered events that do not fit into memory, until all are written together.
///
/// They lie in sorted runs in a table of the connection's own, in a file of SQLite's that has no
/// name and is gone with the connection. Written together, however many runs there are, they touch
/// the row of each lineage once.
struct SpillFile {
  /// Numbers of rows that follow each other, sorted by key.
  private struct Run {
    let lineages: Range<Int64>
    let users: Range<Int64>
    let bytes: Int
  }

  private var runs: [Run] = []
  private var next: Int64 = 1

  /// How many runs there are.
  var count: Int { runs.count }

  /// Their approximate size on disk, in bytes.
  var size: Int { runs.reduce(0) { $0 + $1.bytes } }

  /// Writes `events` as a sorted run.
  mutating func add(_ events: any DeliveredEvents, in database: Connection) throws {
    if next == 1 {
      try clear(in: database)
      try database.execute(
        """
        create temp table event_aside (number integer primary key, key integer, content blob)
        """)
    }
    let insertion = try database.statement(
      "insert into temp.event_aside (number, key, content) values (?, ?, ?)")
    let first = next
    var bytes = 0
    func add(_ key: Int64, _ content: UnsafeRawBufferPointer) throws {
      insertion.bind(1, next)
      insertion.bind(2, key)
      insertion.bind(3, blob: content)
      try insertion.run()
      next += 1
      bytes += content.count + 16
    }
    var coding = DeliveredCoding()
    try events.forEachLineage { head, delivered in
      coding.encode(head, delivered)
      try coding.writer.bytes.withUnsafeBytes { try add(head.key, $0) }
    }
    let users = next
    try events.forEachUser(add)
    runs.append(Run(lineages: first..<users, users: users..<next, bytes: bytes))
  }

  /// Forgets the runs behind the first `count`; their rows stay until all go.
  mutating func drop(after count: Int) { runs.removeSubrange(count...) }

  /// Removes all runs and frees their space.
  mutating func clear(in database: Connection) throws {
    try database.execute("drop table if exists temp.event_aside")
    self = SpillFile()
  }

  /// The events of some runs, as one.
  func events(of numbers: Range<Int>, in database: Connection) -> any DeliveredEvents {
    MergedEvents(
      lineages: runs[numbers].map(\.lineages), users: runs[numbers].map(\.users),
      database: database)
  }
}

/// Several runs, gone through at once.
private struct MergedEvents: DeliveredEvents {
  let lineages: [Range<Int64>]
  let users: [Range<Int64>]
  let database: Connection

  func forEachLineage(_ body: (LineageHead, [DeliveredEvent]) throws -> Void) throws {
    var events: [DeliveredEvent] = []
    try forEachKey(of: lineages) { key, contents in
      events.removeAll(keepingCapacity: true)
      var head: LineageHead?
      for content in contents {
        let other = try DeliveredCoding.decode(content, key: key, into: &events)
        guard head?.isSame(as: other) ?? true else {
          throw LedgerError.collision("two subscriptions")
        }
        head = other
      }
      events.arrange()
      if let head { try body(head, events) }
    }
  }

  func pieces(_ rules: MergeRules) -> [RowPiece<NewLineages>]? { nil }

  func forEachUser(_ body: (Int64, UnsafeRawBufferPointer) throws -> Void) throws {
    try forEachKey(of: users) { key, ids in
      guard ids.allSatisfy({ $0.isEqual(to: ids[0]) }) else {
        throw LedgerError.collision("two users")
      }
      try body(key, ids[0])
    }
  }

  /// Calls `body` with each key of `runs`, in order, and its events.
  private func forEachKey(
    of runs: [Range<Int64>], _ body: (Int64, [UnsafeRawBufferPointer]) throws -> Void
  ) throws {
    let rows = try runs.map { run in
      let rows = try Statement(
        database,
        """
        select key, content from temp.event_aside where number >= ? and number < ?
        order by number
        """)
      rows.bind(1, run.lowerBound)
      rows.bind(2, run.upperBound)
      return rows
    }
    defer { for run in rows { run.reset() } }
    // Beside its key, whether a run has one more row.
    var heads = try rows.map { try $0.step() ? $0.int64(0) : nil }
    var contents: [UnsafeRawBufferPointer] = []
    while let key = heads.least {
      contents.removeAll(keepingCapacity: true)
      for (run, head) in heads.enumerated() where head == key { contents.append(rows[run].blob(1)) }
      try body(key, contents)
      for (run, head) in heads.enumerated() where head == key {
        heads[run] = try rows[run].step() ? rows[run].int64(0) : nil
      }
    }
  }
}

extension [Int64?] {
  /// The least element.
  var least: Int64? {
    reduce(nil) { least, key in key.map { Swift.min($0, least ?? $0) } ?? least }
  }
}
