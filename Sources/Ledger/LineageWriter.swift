internal import GRDB
internal import Vocabulary

/// A lineage's user as stored, before a batch changes it.
struct KnownLineage {
  let key: Int64
  let user: Int64
  let userTime: Int64?
}

/// Writes lineages and users, and refuses two of them under one key.
struct LineageWriter {
  private let find: RawStatement
  private let insertion: RawStatement
  private let userUpdate: RawStatement
  private let userInsertion: RawStatement
  private let userLookup: RawStatement
  private let newestUser: RawStatement

  init(_ database: Database) throws {
    func prepared(_ sql: String) throws -> RawStatement {
      try RawStatement(cachedIn: database, sql)
    }
    find = try prepared(
      """
      select provider, app, environment, store, original, user, user_time
      from lineage where key = ?
      """)
    insertion = try prepared(
      """
      insert into lineage (key, provider, app, environment, store, original, user)
      values (?, ?, ?, ?, ?, ?, 0)
      """)
    userUpdate = try prepared("update lineage set user = ?, user_time = ? where key = ?")
    userInsertion = try prepared(
      "insert into user (key, id) values (?, ?) on conflict (key) do nothing")
    userLookup = try prepared("select id from user where key = ?")
    newestUser = try prepared(
      """
      select user, time from event
      where lineage = ? and standing = 1 and user <> 0
      order by time desc, identity desc, version desc limit 1
      """)
  }

  /// The lineage of `event` as stored; made when new.
  func open(_ event: Event, original: UnsafeRawBufferPointer) throws -> KnownLineage {
    find.bind(1, event.lineage)
    let known = try find.first { row in
      guard try LineageShop(row, from: 0) == LineageShop(of: event),
        row.bytes(4).elementsEqual(original)
      else { throw collision("two subscriptions") }
      return KnownLineage(
        key: event.lineage, user: row.int64(5), userTime: row.optionalInt64(6))
    }
    if let known { return known }
    insertion.bind(1, event.lineage)
    insertion.bind(2, Int64(event.provider.rawValue))
    insertion.bind(3, Int64(event.app))
    insertion.bind(4, Int64(event.environment.rawValue))
    insertion.bind(5, Int64(event.store.rawValue))
    EventColumns.bind(id: original, key: transactionKey(original), at: 6, to: insertion)
    try insertion.run()
    return KnownLineage(key: event.lineage, user: 0, userTime: nil)
  }

  /// Keeps the text of a user id.
  func keep(user: Int64, id: UnsafeRawBufferPointer) throws {
    userInsertion.bind(1, user)
    userInsertion.bind(2, text: id)
    guard try !userInsertion.insert() else { return }
    userLookup.bind(1, user)
    let isSame = try userLookup.first { $0.bytes(0).elementsEqual(id) }
    guard isSame ?? true else { throw collision("two users") }
  }

  /// Sets the user of a new event when it is newer than the stored one.
  ///
  /// False when both are of one time, so that only the stored events can tell.
  func propose(user: Int64, time: Int64, for known: KnownLineage) throws -> Bool {
    guard user != 0 else { return true }
    if let stored = known.userTime {
      if stored > time || known.user == user && stored == time { return true }
      if stored == time { return false }
    }
    try set(user: user, time: time, for: known.key)
    return true
  }

  /// Sets the user to that of the newest event that counts and has one.
  func findUser(of lineage: Int64) throws {
    newestUser.bind(1, lineage)
    let newest = try newestUser.first { (user: $0.int64(0), time: $0.int64(1)) }
    try set(user: newest?.user ?? 0, time: newest?.time, for: lineage)
  }

  private func set(user: Int64, time: Int64?, for lineage: Int64) throws {
    userUpdate.bind(1, user)
    userUpdate.bind(2, time)
    userUpdate.bind(3, lineage)
    try userUpdate.run()
  }

  /// Expected once in 2^32 keys of either sort.
  private func collision(_ what: String) -> LedgerError {
    LedgerError(
      .corrupt, "cannot add events: \(what) with different ids have one fingerprint",
      hint: "nothing was merged; report it, for no option of the program can help")
  }
}
