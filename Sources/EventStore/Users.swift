public import Domain

extension Ledger {
  /// Returns the id of a user, or the pseudonym of an erased one; nil for an unknown key.
  public func userText(_ user: Int64) throws(SubledgerError) -> String? {
    try first("read a user", "select id from user where key = ?", user) { $0.text(0) }
  }

  /// Returns the original transaction id of a lineage for people: with the user's id.
  public func originalText(of row: LineageRow) throws(SubledgerError) -> String {
    guard row.isMadeOfUser else { return row.original }
    return row.original.replacing(row.user.userKeyText, with: try userText(row.user) ?? "")
  }

  /// Returns the key of a user, known or not, for the id or the pseudonym.
  public func userKey(of id: String) throws(SubledgerError) -> Int64 {
    guard !id.isEmpty else { return 0 }
    return try access("read a user") { database in
      let erased = try database.first("select key from erased where pseudonym = ?", id) {
        $0.int64(0)
      }
      return try erased ?? UserKeys(database).key(of: id)
    }
  }
}

extension Int64 {
  /// The key to try after this one, which belongs to another id or content.
  var nextKey: Int64 { self == -1 ? 1 : self &+ 1 }
}

extension Ledger {
  /// Whether any app's own ids of users are stored.
  public func hasCustomerIDs() throws(SubledgerError) -> Bool {
    try access("read ids of customers") { try $0.isAny("customer") }
  }

  /// Returns the app's own id of a user as known by the archives up to `archive`, or an empty text.
  public func customerID(
    of user: Int64, knownBy archive: Int32
  ) throws(SubledgerError) -> String {
    try first(
      "read ids of customers",
      "select id from customer where user = ? and archive <= ? order by archive desc limit 1",
      user, archive
    ) { $0.text(0) } ?? ""
  }

  /// Returns the ids of the users who have, or once had, this id of an app.
  public func users(ofCustomer id: String) throws(SubledgerError) -> [String] {
    try all(
      "read ids of customers",
      """
      select distinct user.id from customer join user on user.key = customer.user
      where customer.id = ? order by user.id
      """, id
    ) { $0.text(0) }
  }
}

/// The keys in the table of users, the only one that contains their ids.
///
/// A key is the fingerprint of the id or, if another id has that number already, the next free one:
/// ids that share a fingerprint do not stop a run.
struct UserKeys {
  private let lookup: Statement
  private let insertion: Statement

  /// Creates access to the keys of the ledger, and of the spill file if there is one.
  init(_ database: Connection, isSpilled: Bool = false) throws {
    let spilled = "union all select id from temp.user_spill where key = ?1"
    lookup = try database.statement(
      """
      select id from user
      where key = ?1 and not exists (select 1 from erased where erased.key = user.key)
      \(isSpilled ? spilled : "")
      """)
    insertion = try database.statement(
      "insert into user (key, id) values (?, ?) on conflict (key) do nothing")
  }

  /// Calls `body` with the id that has a key.
  ///
  /// A user with the key of an erased person is that person: returns nil, as for a free key.
  func holder<Value>(of key: Int64, _ body: (UnsafeRawBufferPointer) -> Value) throws -> Value? {
    lookup.bind(1, key)
    return try lookup.first { body($0.bytes(0)) }
  }

  func key(of id: String) throws -> Int64 { try find(id).key }

  /// Returns the key of a user, who is added if unknown.
  func keep(id: String) throws -> Int64 {
    let (key, isKnown) = try find(id)
    if !isKnown { try insertion.run(key, id) }
    return key
  }

  private func find(_ id: String) throws -> (key: Int64, isKnown: Bool) {
    var (id, key) = (id, Fingerprint.of(id))
    func isSame(_ holder: UnsafeRawBufferPointer) -> Bool {
      id.withUTF8 { holder.isEqual(to: UnsafeRawBufferPointer($0)) }
    }
    while let isSame = try holder(of: key, isSame) {
      if isSame { return (key, true) }
      key = key.nextKey
    }
    return (key, false)
  }

  /// Adds an unknown user.
  func keep(_ key: Int64, id: UnsafeRawBufferPointer) throws {
    insertion.bind(1, key)
    insertion.bind(2, text: id)
    try insertion.run()
  }
}
