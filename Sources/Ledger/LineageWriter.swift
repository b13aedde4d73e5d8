internal import GRDB
internal import Vocabulary

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
      select provider, app, environment, store, original, user from lineage where key = ?
      """)
    insertion = try prepared(
      """
      insert into lineage (key, provider, app, environment, store, original, user)
      values (?, ?, ?, ?, ?, ?, ?)
      """)
    userUpdate = try prepared("update lineage set user = ? where key = ?")
    userInsertion = try prepared(
      "insert into user (key, id) values (?, ?) on conflict (key) do nothing")
    userLookup = try prepared("select id from user where key = ?")
    newestUser = try prepared(
      """
      select user from event
      where lineage = ? and standing = 1 and user <> 0
      order by time desc, identity desc, version desc limit 1
      """)
  }

  /// The user of the lineage of `event` as stored; nil when the ledger has no such lineage.
  func user(of event: Event, original: UnsafeRawBufferPointer) throws -> Int64? {
    find.bind(1, event.lineage)
    return try find.first { row in
      guard try LineageShop(row, from: 0) == LineageShop(of: event),
        row.bytes(4).isEqual(to: original)
      else { throw collision("two subscriptions") }
      return row.int64(5)
    }
  }

  /// Makes the lineage of `event`, with the user of its newest event.
  func make(_ event: Event, original: UnsafeRawBufferPointer, user: Int64) throws {
    insertion.bind(1, event.lineage)
    insertion.bind(2, Int64(event.provider.rawValue))
    insertion.bind(3, Int64(event.app))
    insertion.bind(4, Int64(event.environment.rawValue))
    insertion.bind(5, Int64(event.store.rawValue))
    // As a number where that keeps the id whole, for it takes fewer bytes.
    if EventCoding.isPlainNumber(original) {
      insertion.bind(6, transactionKey(original))
    } else {
      insertion.bind(6, text: original)
    }
    insertion.bind(7, user)
    try insertion.run()
  }

  /// Keeps the text of a user id.
  func keep(user: Int64, id: UnsafeRawBufferPointer) throws {
    userInsertion.bind(1, user)
    userInsertion.bind(2, text: id)
    guard try !userInsertion.insert() else { return }
    userLookup.bind(1, user)
    let isSame = try userLookup.first { $0.bytes(0).isEqual(to: id) }
    guard isSame ?? true else { throw collision("two users") }
  }

  /// Sets the user to that of the newest event that counts and has one.
  func findUser(of lineage: Int64) throws {
    newestUser.bind(1, lineage)
    userUpdate.bind(1, try newestUser.first { $0.int64(0) } ?? 0)
    userUpdate.bind(2, lineage)
    try userUpdate.run()
  }

  /// Expected once in 2^32 keys of either sort.
  private func collision(_ what: String) -> LedgerError {
    LedgerError(
      .corrupt, "cannot add events: \(what) with different ids have one fingerprint",
      hint: "nothing was merged; report it, for no option of the program can help")
  }
}
