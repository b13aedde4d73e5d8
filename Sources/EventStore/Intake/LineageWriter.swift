internal import Domain

/// Writes lineages, and refuses two of them under one key.
final class LineageWriter {
  private let database: Connection
  private let find: Statement
  private let insertion: Statement
  private let update: Statement
  /// Marks a lineage as due; nil before the first fold, which folds all of them.
  private let touch: Statement?
  /// Whether the ledger has no lineages yet, so that none needs a lookup.
  private let isEmpty: Bool

  init(_ database: Connection, isEmpty: Bool = false) throws {
    (self.database, self.isEmpty) = (database, isEmpty)
    find = try database.statement("\(LineageRow.selectWithEvents) where l.key = ?")
    insertion = try database.statement(
      """
      insert into lineage (
        key, provider, app, environment, store, original, user, versions, counted, compared,
        events)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    update = try database.statement(
      """
      update lineage set user = ?2, versions = ?3, counted = ?4, compared = ?5, events = ?6
      where key = ?1
      """)
    touch =
      try database.isAny("fold")
      ? database.statement(
        """
        insert into due (hour, lineage) values (\(DueHour.atOnce), ?) on conflict do nothing
        """) : nil
  }

  /// Calls `body` with the stored events of a lineage, or none, and returns whether it is stored.
  func withEvents(
    of lineage: LineageHead, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> Bool {
    func look(_ row: Statement) throws {
      let known = LineageHead(scope: try SubscriptionScope(row), original: row.bytes(5))
      guard known.isSame(as: lineage) else { throw SubledgerError.collision }
      try body(row.blob(LineageRow.eventsColumn))
    }
    find.bind(1, lineage.key)
    if !isEmpty, try find.first(look) != nil { return true }
    try body(UnsafeRawBufferPointer(start: nil, count: 0))
    return false
  }

  /// Inserts a lineage with its state and its events as encoded by `EventRecords`.
  func make(
    _ lineage: LineageHead, _ state: LineageState, events: UnsafeRawBufferPointer
  ) throws {
    let scope = lineage.scope
    try insertion.run(
      scope.lineage, scope.provider, scope.app, scope.environment, scope.store,
      OriginalID(id: lineage.original), state.user, state.versions, state.counted, state.compared,
      events)
    try touch(scope.lineage)
  }

  func renew(_ key: Int64, _ state: LineageState, events: UnsafeRawBufferPointer) throws {
    try update.run(key, state.user, state.versions, state.counted, state.compared, events)
    try touch(key)
  }

  /// Updates a lineage with records, which are sorted; removes it without any.
  func renew(_ key: Int64, _ records: [EventRecord]) throws {
    guard !records.isEmpty else {
      try database.run("delete from lineage where key = ?", key)
      return
    }
    var events = ByteWriter()
    EventRecords.encode(records, to: &events)
    try events.bytes.withUnsafeBytes {
      try renew(key, LineageState(records), events: $0)
    }
  }

  /// Has a lineage folded again.
  func touch(_ lineage: Int64) throws {
    try touch?.run(lineage)
  }
}

/// An original transaction id: stored as a number, in fewer bytes, if that preserves it.
struct OriginalID: Bindable {
  let id: UnsafeRawBufferPointer

  func bind(to row: Statement, at index: Int32) {
    guard let number = Int64(plainNumber: id) else { return row.bind(index, text: id) }
    row.bind(index, number)
  }
}

/// Columns of a lineage's row that follow from its events.
struct LineageState: Equatable {
  /// The user of the newest event that counts and has one; 0 for none.
  let user: Int64
  let versions: Int64
  let counted: Int64
  let compared: Int64
}

extension LineageState {
  init(_ records: [EventRecord]) {
    let owner = records.last { $0.counts && $0.user != 0 }?.user ?? 0
    user = owner
    versions = Int64(records.count)
    counted = Int64(records.count { $0.counts })
    compared = Int64(
      records.count { record in
        record.counts && (record.hasEntitlements || record.user != owner && record.user != 0)
      })
  }
}
