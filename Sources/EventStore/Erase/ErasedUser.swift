internal import Formats
internal import Domain

/// A person whose id the ledger no longer holds, and by what the id is recognised when it comes
/// again.
struct ErasedUser: Sendable, Equatable {
  /// What stands in the id's place; random.
  let pseudonym: String
  /// Some bits of the id's fingerprint, so that few ids are tried.
  let mark: Int64
  /// What the token is keyed with; random.
  let salt: String
  /// HMAC-SHA256 of the id.
  let token: String

  static let marks: Int64 = 1 << 12

  private init(_ row: Statement) {
    pseudonym = row.text(0)
    mark = row.int64(1)
    salt = row.text(2)
    token = row.text(3)
  }

  /// Everybody who was erased, by pseudonym.
  static func all(in database: Connection) throws -> [ErasedUser] {
    var users: [ErasedUser] = []
    try Statement(
      database, "select pseudonym, mark, salt, token from erased order by pseudonym"
    ).forEachRow { users.append(ErasedUser($0)) }
    return users
  }

  /// Makes up a pseudonym for `id`.
  init(erasing id: String) {
    func random() -> String { UInt64.random(in: .min ... .max).hexadecimal }
    pseudonym = "erased-" + random()
    mark = Fingerprint.of(id) & (Self.marks - 1)
    salt = random() + random()
    var id = id
    let key = Array(salt.utf8)
    token = id.withUTF8 { keyedSHA256(of: UnsafeRawBufferPointer($0), key: key) }
  }

  func write(to database: Connection) throws {
    let statement = try database.statement(
      "insert into erased (pseudonym, mark, salt, token) values (?, ?, ?, ?)")
    statement.bind(1, pseudonym)
    statement.bind(2, mark)
    statement.bind(3, salt)
    statement.bind(4, token)
    try statement.run()
  }
}

/// Everybody who was erased.
struct ErasedUsers: Sendable {
  /// By mark; nobody has most of them.
  private let users: [[ErasedUser]]
  let isEmpty: Bool

  init(_ database: Connection) throws {
    var users = [[ErasedUser]](repeating: [], count: Int(ErasedUser.marks))
    var isEmpty = true
    for user in try ErasedUser.all(in: database) {
      users[Int(user.mark & (ErasedUser.marks - 1))].append(user)
      isEmpty = false
    }
    self.users = isEmpty ? [] : users
    self.isEmpty = isEmpty
  }

  /// Whether `pseudonym` stands for somebody.
  func has(pseudonym: String) -> Bool {
    users.contains { $0.contains { $0.pseudonym == pseudonym } }
  }

  /// The pseudonym of the id, of which `key` is the fingerprint; nil when it was not erased.
  func pseudonym(of id: UnsafeRawBufferPointer, key: Int64) -> String? {
    guard !isEmpty else { return nil }
    return users[Int(key & (ErasedUser.marks - 1))].first {
      keyedSHA256(of: id, key: Array($0.salt.utf8)) == $0.token
    }?.pseudonym
  }

  func pseudonym(of id: String) -> String? {
    let key = Fingerprint.of(id)
    var id = id
    return id.withUTF8 { pseudonym(of: UnsafeRawBufferPointer($0), key: key) }
  }
}
