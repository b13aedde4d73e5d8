internal import Domain

/// Takes a person's id out of lineages and their events.
///
/// A lineage whose original transaction id holds the id gets another key; whatever refers to it
/// follows.
struct ErasedLineages {
  private let database: Connection
  private let words: [String]
  private let renaming: Renaming
  /// Keys of the person before and after.
  private let keys: (old: Int64, new: Int64)

  /// Lineages that were changed.
  private(set) var count: Int64 = 0
  /// Versions of events that named the person.
  private(set) var versions: Int64 = 0
  /// New keys by old ones.
  private(set) var moved: [Int64: Int64] = [:]
  /// Original transaction ids before, of all lineages that have an event of the person.
  private(set) var originals: Set<String> = []
  /// What the person's events say that their breaks may be about.
  private(set) var clues = BreakClues()

  init(
    _ database: Connection, words: [String], _ renaming: Renaming, keys: (old: Int64, new: Int64)
  ) {
    self.database = database
    self.words = words
    self.renaming = renaming
    self.keys = keys
  }

  mutating func write() throws {
    let mentions = try Statement(
      database,
      "select key from lineage where user = ?1 or instr(events, ?2) > 0 order by key")
    var hash = ByteWriter()
    hash.put(hash: keys.old)
    mentions.bind(1, keys.old)
    mentions.bind(2, blob: hash.bytes)
    var found: [Int64] = []
    try mentions.forEachRow { found.append($0.int64(0)) }
    for key in found { try rewrite(key) }
    for (old, new) in moved { try follow(old, new) }
    if !moved.isEmpty { try keepGroupsDue() }
  }

  private struct Row {
    let shop: SubscriptionScope
    let original: String
    let user: Int64
    let versions: Int64
    let counted: Int64
    let events: [UInt8]
    let sum: Int64

    init(_ row: Statement) throws {
      shop = try SubscriptionScope(row, from: 0)
      original = row.text(4)
      user = row.int64(5)
      versions = row.int64(6)
      counted = row.int64(7)
      events = Array(row.blob(8))
      sum = row.int64(9)
    }
  }

  private mutating func rewrite(_ key: Int64) throws {
    let select = try database.statement(
      """
      select provider, app, environment, store, original, user, versions, counted, events,
        row_check
      from lineage where key = ?
      """)
    select.bind(1, key)
    guard let row = try select.first(Row.init) else { return }
    let sum = row.events.withUnsafeBytes {
      RowCheck.lineage(
        user: row.user, versions: row.versions, counted: row.counted, events: $0)
    }
    guard sum == row.sum else { throw LedgerError.damagedPerson("lineage \(key)") }
    var arena = ByteArena()
    var kept: [(record: EventRecord, content: ByteArena.Slot)] = []
    var named: Int64 = 0
    try row.events.withUnsafeBytes { bytes in
      try EventRecords.forEach(in: bytes) { record in
        guard record.user == keys.old else {
          return kept.append((record, arena.keep(record.content)))
        }
        named += 1
        try note(record, of: key, row.shop)
        kept.append(try renamed(record, of: key, row.shop, in: &arena))
      }
    }
    guard named > 0 || row.user == keys.old else { return }
    count += 1
    versions += named
    originals.insert(row.original)
    try arena.withPieces { pieces in
      let records = kept.map { record, content in
        var record = record
        record.content = pieces[content]
        return record
      }
      try write(row, as: key, records)
    }
  }

  private mutating func note(
    _ record: EventRecord, of lineage: Int64, _ shop: SubscriptionScope
  ) throws {
    let event = try record.event(of: lineage, shop)
    clues.identities.insert(event.identity)
    clues.times.insert(event.time)
    if let end = event.periodEnd { clues.ends.insert(end) }
  }

  /// A record of the person under the new name, and its content, which is kept in `arena`.
  private func renamed(
    _ record: EventRecord, of lineage: Int64, _ shop: SubscriptionScope, in arena: inout ByteArena
  ) throws -> (EventRecord, ByteArena.Slot) {
    var renamed = record
    renamed.user = keys.new
    let text = try record.transaction()
    var name = renaming.applied(toOwn: text)
    guard name != text else { return (renamed, arena.keep(record.content)) }
    var event = try record.event(of: lineage, shop)
    event.transaction = transactionKey(name)
    let content = name.withUTF8 { name in
      arena.keep {
        EventCoding.encode(event, transaction: UnsafeRawBufferPointer(name), to: &$0)
      }
    }
    return (renamed, content)
  }

  private mutating func write(_ row: Row, as key: Int64, _ records: [EventRecord]) throws {
    var events = ByteWriter()
    EventRecords.encode(records, to: &events)
    let original = renaming.applied(toOwn: row.original)
    let user = row.user == keys.old ? keys.new : row.user
    let place =
      original == row.original
      ? key
      : lineageKey(
        provider: row.shop.provider, app: words[Int(row.shop.app)],
        environment: row.shop.environment, store: row.shop.store, original: original)
    let update = try database.statement(
      """
      update lineage set key = ?2, user = ?3, events = ?4, row_check = ?5,
        original = coalesce(?6, original)
      where key = ?1
      """)
    update.bind(1, key)
    update.bind(2, place)
    update.bind(3, user)
    update.bind(4, blob: events.bytes)
    update.bind(
      5,
      events.bytes.withUnsafeBytes {
        RowCheck.lineage(
          user: user, versions: row.versions, counted: row.counted, events: $0)
      })
    if place == key { update.bind(6, Int64?.none) } else { update.bind(6, original) }
    try update.run()
    guard place != key else { return }
    moved[key] = place
    try IdentityIndex(database).move(records.map(\.identity), from: key, to: place)
  }

  /// Lets groups stay due by the first of their keys, which may be another one now.
  private func keepGroupsDue() throws {
    let former = Dictionary(uniqueKeysWithValues: moved.map { ($1, $0) })
    let select = try Statement(
      database,
      """
      select provider, app, environment, key from lineage
      where user = ? and provider not in (\(Provider.linking)) order by key
      """)
    select.bind(1, keys.new)
    var groups: [[Int64]: [Int64]] = [:]
    try select.forEachRow { row in
      groups[(0..<3).map { row.int64(Int32($0)) }, default: []].append(row.int64(3))
    }
    let insert = try Statement(
      database,
      """
      insert into due (hour, lineage)
      select hour, ?1 from due where lineage = ?2 and hour > \(DueHour.atOnce)
      on conflict do nothing
      """)
    for group in groups.values {
      let first = group.min { (former[$0] ?? $0) < (former[$1] ?? $1) }
      insert.bind(1, group.first)
      insert.bind(2, first)
      try insert.run()
    }
  }

  /// Lets what refers to a lineage refer to its new key.
  private func follow(_ old: Int64, _ new: Int64) throws {
    for table in ["contested", "due", "churn_doubt", "break_episode"] {
      let update = try database.statement("update \(table) set lineage = ?2 where lineage = ?1")
      update.bind(1, old)
      update.bind(2, new)
      try update.run()
    }
  }
}

extension LedgerError {
  /// What is damaged is not written anew with a check that holds.
  static func damagedPerson(_ what: String) -> LedgerError {
    LedgerError(
      .corrupt, "cannot erase the person: \(what) is not as it was written",
      hint: "`subledger verify` tells what does not hold; restore the ledger from a backup first")
  }
}
