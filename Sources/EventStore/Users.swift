internal import Domain

extension Ledger {
  /// The id of a user, or the pseudonym of one who was erased; nil when the ledger has no such key.
  public func userText(_ user: Int64) throws(LedgerError) -> String? {
    try access("read a user") { database in
      let statement = try database.statement("select id from user where key = ?")
      statement.bind(1, user)
      return try statement.first { $0.text(0) }
    }
  }

  /// The key of a user, known or not, by the id or the pseudonym.
  public func userKey(of id: String) throws(LedgerError) -> Int64 {
    try access("read a user") { database in
      let statement = try database.statement("select key from erased where pseudonym = ?")
      statement.bind(1, id)
      return try statement.first { $0.int64(0) } ?? Fingerprint.of(id)
    }
  }
}

/// Writes the table of users, the only one that holds their ids.
struct UserWriter {
  private let insertion: Statement
  private let lookup: Statement

  init(_ database: Connection) throws {
    insertion = try database.statement(
      "insert into user (key, id) values (?, ?) on conflict (key) do nothing")
    lookup = try database.statement(
      """
      select id, exists (select 1 from erased where erased.key = user.key) from user where key = ?
      """)
  }

  /// Adds a user who is not known; one who was erased stays so.
  func keep(_ user: Int64, id: UnsafeRawBufferPointer) throws {
    insertion.bind(1, user)
    insertion.bind(2, text: id)
    guard try !insertion.changedRow() else { return }
    lookup.bind(1, user)
    let isSame = try lookup.first { $0.bytes(0).isEqual(to: id) || $0.int64(1) != 0 }
    guard isSame ?? true else { throw LedgerError.collision("two users") }
  }
}
