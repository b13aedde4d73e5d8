internal import Domain

/// Compares rows that no other check covers with their check columns and keys.
struct RowChecks {
  typealias Check = (Connection, inout CheckResult) throws -> Void

  let words: [String]

  var all: [(String, Check)] {
    [
      ("lineage", lineages), ("user", users),
      Self.finding(
        "customer",
        """
        select 'customer of user ' || user || ' should not be there' from customer
        where id = '' or user in (select key from erased)
          or archive not in (select id from archive where kind = 'events')
        order by user
        """),
      ("identity", identities), ("event_conflict", conflicts), ("snapshot_content", contents),
      ("snapshot", snapshots),
      Self.finding(
        "archive",
        """
        select 'archive ' || id || ': its reasons for rejecting do not add up' from archive
        where rejected <> (
          select coalesce(sum(lines), 0) from rejected where rejected.archive = archive.id)
        """),
      ("store_transaction", storeTransactions),
      Self.finding(
        "lineage_link",
        """
        select 'lineage_link ' || root || ': the root is not the least of its lineages'
        from lineage_link group by root
        having root <> min(lineage) or max(lineage not in (select key from lineage))
        """),
      // A ledger with a lake has a location in it for each archive.
      Self.finding(
        "lake_archive",
        """
        select 'archive ' || id || ': its place in the lake is not known, or not its own'
        from archive left join lake_archive on archive = id
        where (kind = 'events' and status <> 'repeated') <> (archive is not null)
          and exists (select 1 from lake_archive)
        """),
      Self.finding(
        "lake_part",
        """
        select 'part ' || part || ' holds events and is not known as the ledger''s own'
        from (select part from lake_archive except select part from lake_part)
        """),
    ]
  }

  /// Checks a table by a query that returns one text for each problem.
  private static func finding(_ table: String, _ query: String) -> (String, Check) {
    (
      table,
      { database, check in
        check.count = try database.count(table)
        try database.forEachRow(query) { check.fail($0.text(0)) }
      }
    )
  }

  private func lineages(_ database: Connection, _ check: inout CheckResult) throws {
    let apps = words.map { Fingerprint.of($0) }
    try database.forEachRow(
      """
      select key, provider, app, environment, store, original, events, user, versions, counted,
        compared
      from lineage order by key
      """
    ) { row in
      check.count += 1
      let key = row.int64(0)
      let app = row.int64(2)
      guard let scope = try? SubscriptionScope(row), apps.indices.contains(Int(app)) else {
        return check.fail("lineage \(key) names no known provider, store and app")
      }
      let expected = lineageKey(
        provider: scope.provider, app: apps[Int(app)], environment: scope.environment,
        store: scope.store, original: row.bytes(5))
      if key != expected { check.fail("lineage \(key) has a key that does not match its content") }
      // A ledger without events stores only the names of subscriptions.
      let (events, versions) = (row.blob(6), row.int64(8))
      if events.isEmpty, versions == 0 { return }
      var records: [EventRecord] = []
      try? EventRecords.forEach(in: events) { record in
        _ = try record.event(of: scope)
        records.append(record)
      }
      let state = LineageState(
        user: row.int64(7), versions: versions, counted: row.int64(9), compared: row.int64(10))
      if state != LineageState(records) {
        check.fail("lineage \(key) was changed since it was written")
      }
    }
  }

  private func users(_ database: Connection, _ check: inout CheckResult) throws {
    var keys = ProbedKeys()
    try database.forEachRow(
      """
      select user.key, id, pseudonym from user left join erased on erased.key = user.key
      order by user.key
      """
    ) { row in
      check.count += 1
      let isKey = keys.accept(row.int64(0), of: Fingerprint.of(row.bytes(1)))
      if row.isNull(2) ? !isKey : row.text(1) != row.text(2) {
        check.fail("user \(row.int64(0)) does not have the key of its id")
      }
    }
  }

  /// Looks up the identities of all stored events, many together, so that each row is read once.
  private func identities(_ database: Connection, _ check: inout CheckResult) throws {
    check.count = try database.count("identity")
    let index = IdentityIndex(database)
    var claims: [IdentityIndex.Claim] = []
    var missing: Int64 = 0
    func lookUp() throws {
      claims.sort()
      missing += try index.missing(of: claims)
      claims.removeAll(keepingCapacity: true)
    }
    try database.forEachRow("select key, events from lineage order by key") { row in
      let lineage = row.int64(0)
      // Unreadable events are reported with their lineages.
      try? EventRecords.forEach(in: row.blob(1)) { record in
        claims.append(
          IdentityIndex.Claim(identity: record.identity, lineage: lineage, number: 0))
      }
      if claims.count >= Self.identitiesMax { try lookUp() }
    }
    try lookUp()
    if missing > 0 { check.fail("\(missing) identities of stored events are in no row") }
  }

  /// Number of identities that are looked up together: 24 MB.
  private static let identitiesMax = 1_000_000

  private func conflicts(_ database: Connection, _ check: inout CheckResult) throws {
    var events: Set<[Int64]> = []
    var held: Int64?
    try database.forEachRow(
      "select lineage, identity, time from event_conflict order by lineage"
    ) { row in
      check.count += 1
      let lineage = row.int64(0)
      if lineage != held {
        (events, held) = ([], lineage)
        try database.forEachRecord(of: lineage) { events.insert([$0.identity, $0.time]) }
      }
      if !events.contains([row.int64(1), row.int64(2)]) {
        check.fail("event_conflict \(row.int64(1)): lineage \(lineage) holds no such event")
      }
    }
  }

  private func contents(_ database: Connection, _ check: inout CheckResult) throws {
    var keys = ProbedKeys()
    try database.forEachRow("select key, body from snapshot_content order by key") { row in
      check.count += 1
      let key = SnapshotCoding.key(ofUser: row.int64(0), Fingerprint.of(row.blob(1)))
      if !keys.accept(row.int64(0), of: key) {
        check.fail("snapshot_content \(row.int64(0)) does not have the key of its body")
      }
    }
  }

  private func snapshots(_ database: Connection, _ check: inout CheckResult) throws {
    check.count = try database.count("snapshot")
    let sums = try database.snapshotChecks()
    try database.forEachRow("select id, name, coalesce(snapshots_check, 0) from archive") { row in
      if row.int64(2) != sums[row.int64(0), default: 0] {
        check.fail("snapshots of archive \(row.int64(0)), \(row.text(1)), were changed")
      }
    }
  }

  private func storeTransactions(_ database: Connection, _ check: inout CheckResult) throws {
    check.count = try database.count("store_transaction")
    guard check.count > 0, try database.areLinksUpToDate() else { return }
    let waiting = Set(
      try database.all("select lineage from due where hour = \(DueHour.atOnce)") { $0.int64(0) })
    var held: Int64 = 0
    try database.forEachRow(LineageRow.selectWithEvents) { found in
      let row = try LineageRow(found)
      for id in try row.storeIDs(found.blob(LineageRow.eventsColumn)) {
        let holder = try database.holder(ofTransaction: id, in: row.store)
        if holder == row.key { held += 1 }
        guard holder != row.key, !waiting.contains(row.key) else { continue }
        let root = try database.linkRoot(of: row.key)
        if try root == nil || holder.flatMap({ try database.linkRoot(of: $0) }) != root {
          check.fail("lineage \(row.key) is not linked by its transactions")
        }
      }
    }
    if held != check.count {
      check.fail("\(check.count - held) transactions are not of the lineage they name")
    }
  }
}

/// Keys in ascending order: each is the fingerprint of its content, or the next free key.
private struct ProbedKeys {
  private var first: Int64 = 0
  private var last: Int64?

  /// Whether `key` can belong to content with this fingerprint.
  mutating func accept(_ key: Int64, of fingerprint: Int64) -> Bool {
    if last?.nextKey != key { first = key }
    last = key
    return first <= fingerprint && fingerprint <= key
  }
}

/// Returns a snapshot's part of its archive's check: the fingerprint of all other columns.
func snapshotCheck(_ columns: [Int64]) -> Int64 {
  var sum = Fingerprint(seed: 4)
  for column in columns { sum.combine(UInt64(bitPattern: column)) }
  return sum.value
}

extension Connection {
  /// Returns for each archive the sum of the checks of its snapshots for which `condition` holds.
  func snapshotChecks<each Value: Bindable>(
    where condition: String = "true", _ values: repeat each Value
  ) throws -> [Int64: Int64] {
    var sums: [Int64: Int64] = [:]
    try forEachRow(
      """
      select archive, provider, user, app, captured_ms, content, line, byte_offset from snapshot
      where \(condition)
      """, repeat each values
    ) { row in sums[row.int64(0), default: 0] &+= snapshotCheck((1..<8).map { row.int64($0) }) }
    return sums
  }
}
