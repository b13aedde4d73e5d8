internal import Domain

/// Takes a person's id out of snapshots.
struct ErasedSnapshots {
  private let database: Connection
  private let renaming: Renaming
  private let keys: (old: Int64, new: Int64)

  /// Snapshots of the person.
  private(set) var count: Int64 = 0
  /// Products that these name.
  private(set) var products: Set<String> = []

  init(_ database: Connection, _ renaming: Renaming, keys: (old: Int64, new: Int64)) {
    self.database = database
    self.renaming = renaming
    self.keys = keys
  }

  private struct Row {
    let provider: Int64
    let app: Int64
    let captured: Int64
    let content: Int64
    let archive: Int64
    let line: Int64
    let offset: Int64

    init(_ row: Statement) {
      provider = row.int64(0)
      app = row.int64(1)
      captured = row.int64(2)
      content = row.int64(3)
      archive = row.int64(4)
      line = row.int64(5)
      offset = row.int64(6)
    }

    func check(user: Int64, content: Int64) -> Int64 {
      RowCheck.snapshot([provider, user, app, captured, content, line, offset])
    }
  }

  mutating func write() throws {
    let own = try Statement(
      database,
      """
      select provider, app, captured_ms, content, archive, line, byte_offset from snapshot
      where user = ? order by archive, line, byte_offset
      """)
    own.bind(1, keys.old)
    var rows: [Row] = []
    try own.forEachRow { rows.append(Row($0)) }
    var contents: [Int64: Int64] = [:]
    for row in rows where contents[row.content] == nil {
      contents[row.content] = try renamedContent(row.content)
    }
    let update = try Statement(
      database,
      """
      update snapshot set user = ?5, content = ?6
      where provider = ?1 and user = ?2 and app = ?3 and captured_ms = ?4 and content = ?7
      """)
    let check = try Statement(
      database, "update archive set snapshots_check = ? where id = ?")
    let sum = try Statement(database, "select snapshots_check from archive where id = ?")
    for row in rows {
      let content = contents[row.content] ?? row.content
      for (index, value) in [
        row.provider, keys.old, row.app, row.captured, keys.new, content, row.content,
      ].enumerated() { update.bind(Int32(index + 1), value) }
      try update.run()
      sum.bind(1, row.archive)
      let before = try sum.first { $0.int64(0) } ?? 0
      let change =
        row.check(user: keys.new, content: content)
        &- row.check(user: keys.old, content: row.content)
      check.bind(1, before &+ change)
      check.bind(2, row.archive)
      try check.run()
    }
    try dropUnused(contents.filter { $0.key != $0.value }.keys)
    count = Int64(rows.count)
  }

  /// The key of the content without the id.
  private mutating func renamedContent(_ key: Int64) throws -> Int64 {
    let select = try database.statement("select body from snapshot_content where key = ?")
    select.bind(1, key)
    guard let body = try select.first({ Array($0.blob(0)) }) else { return key }
    guard body.withUnsafeBytes({ Fingerprint.of($0) }) == key,
      let told = body.withUnsafeBytes({ SnapshotCoding.decode($0) })
    else { throw LedgerError.damagedPerson("snapshot_content \(key)") }
    for entitlement in told { products.insert(entitlement.product) }
    let renamed = SnapshotCoding.encode(told.map { $0.renamed(renaming) })
    guard renamed != body else { return key }
    let place = renamed.withUnsafeBytes { Fingerprint.of($0) }
    let insert = try database.statement(
      "insert into snapshot_content (key, body) values (?, ?) on conflict (key) do nothing")
    insert.bind(1, place)
    insert.bind(2, blob: renamed)
    try insert.run()
    return place
  }

  private func dropUnused(_ contents: some Sequence<Int64>) throws {
    let removal = try Statement(
      database,
      """
      delete from snapshot_content
      where key = ?1 and not exists (select 1 from snapshot where content = ?1)
      """)
    for content in contents {
      removal.bind(1, content)
      try removal.run()
    }
  }
}
