public import Domain

/// The current snapshots of a user.
public struct UserSnapshots: Sendable, Equatable {
  /// The provider.
  public var provider: Provider
  /// Fingerprint of the user id.
  public var user: Int64
  /// One per app, by app id; one snapshot contains everything that was captured at one time.
  public var snapshots: [Snapshot]
  /// Fingerprint of their content, independent of capture times.
  public var content: Int64
}

/// Files of snapshots that could not be read completely.
public struct IncompleteSnapshots: Sendable, Equatable {
  /// Name of the last such file to arrive.
  public var newest: String
  /// Number of such files.
  public var files: Int64 = 1
  /// Number of their lines.
  public var lines: Int64
  /// Number of rejected lines.
  public var rejected: Int64
  /// Defect and location of the first rejected line in the newest file; nil if there is none.
  public var firstReject: String?
}

extension Ledger {
  /// Calls `body` with every user who has a snapshot captured at or before `asOf`, by provider and
  /// user, with the newest one of each app.
  ///
  /// `provider`, and `users` of it, restrict the walk, so that several readers can share it. The
  /// snapshots are without the text of the user's id.
  public func forEachUser(
    withSnapshotAsOf asOf: Instant, provider: Provider? = nil,
    users: [ClosedRange<Int64>] = [.min ... .max], _ body: (UserSnapshots) throws -> Void
  ) throws {
    try visit("read snapshots") { database in
      let walk = try SnapshotWalk(database, of: provider, asOf: asOf)
      for users in users {
        var current: UserSnapshots?
        try walk.forEachNewest(of: users) { row in
          let provider = row.provider
          if current?.user != row.user || current?.provider != provider {
            if let current { try body(current) }
            current = UserSnapshots(
              provider: provider, user: row.user, snapshots: [], content: 0)
          }
          current?.add(
            Snapshot(
              provider: provider, app: symbols.words[Int(row.app)], user: "",
              capturedAt: row.captured, entitlements: try walk.entitlements(of: row, path),
              place: row.place))
          current?.content ^= contentFingerprint(app: row.app, content: row.content)
        }
        if let current { try body(current) }
      }
    }
  }

  /// Returns when the newest snapshot of each provider and app at or before `asOf` was captured.
  public func newestCaptures(
    asOf: Instant
  ) throws(SubledgerError) -> [Provider: [String: Instant]] {
    let captures: [(provider: Provider, app: StringID, at: Instant)] = try all(
      "read snapshots",
      """
      select provider, app, max(captured_ms) from snapshot where captured_ms <= ?
      group by provider, app
      """, asOf
    ) { (try $0.value(0), try $0.symbol(1), $0.instant(2)) }
    return captures.reduce(into: [:]) { newest, capture in
      newest[capture.provider, default: [:]][symbols.words[Int(capture.app)]] = capture.at
    }
  }

  /// Returns the snapshot files that are damaged or have rejected lines, and for which neither an
  /// intact file of the same path nor a later intact file arrived; nil if there are none.
  ///
  /// A later file is of a later run, or all its snapshots of a provider were captured, at or before
  /// `asOf`, after those in the damaged one.
  public func incompleteSnapshots(
    asOf: Instant
  ) throws(SubledgerError) -> IncompleteSnapshots? {
    try first(
      "look for snapshots that are not whole",
      """
      with shown as materialized (
        select archive, provider, min(captured_ms) as first, max(captured_ms) as last
        from snapshot where captured_ms <= ? group by archive, provider)
      select name, count(*) over (), sum(lines - skipped) over (), sum(rejected) over (),
        (select detail || ', at line ' || line from reject
        where archive = torn.id order by line, byte_offset limit 1)
      from archive as torn
      where kind = 'snapshots' and (status = 'damaged' or rejected > 0) and not exists (
        select 1 from archive as whole
        where whole.kind = 'snapshots' and whole.status = 'complete' and whole.rejected = 0
          and (
            whole.path = torn.path and whole.id > torn.id
            or exists (
              select 1 from shown as later
              left join shown as read on read.archive = torn.id
              where later.archive = whole.id
                and ifnull(read.provider, later.provider) = later.provider
                and (whole.run > torn.run or read.last < later.first))))
      order by id desc limit 1
      """, asOf
    ) { row in
      IncompleteSnapshots(
        newest: row.text(0), files: row.int64(1), lines: row.int64(2), rejected: row.int64(3),
        firstReject: row.isNull(4) ? nil : row.text(4))
    }
  }

  /// Calls `body` with every user, by key, who has a production lineage of `provider` but no
  /// snapshot captured at or before `asOf`; `users` restricts the walk.
  public func forEachUser(
    withoutSnapshotAsOf asOf: Instant, provider: Provider,
    users: [ClosedRange<Int64>] = [.min ... .max], _ body: (Int64) throws -> Void
  ) throws {
    try visit("read users without a snapshot") { database in
      let select = """
        select distinct user from lineage as l
        where user <> 0 and provider = ?1 and user between ?3 and ?4 and not exists (
          select 1 from snapshot as s
          where s.provider = ?1 and s.user = l.user and captured_ms <= ?2)
          -- The index has no environments: only of these users lineages are read.
          and exists (
          select 1 from lineage as own where own.key = l.key
          and own.environment = \(Environment.production.rawValue))
        order by user
        """
      for users in users {
        try database.forEachRow(select, provider, asOf, users.lowerBound, users.upperBound) {
          try body($0.int64(0))
        }
      }
    }
  }
}

/// Returns a snapshot's part of its user's fingerprint; the order of snapshots does not matter.
func contentFingerprint(app: Int64, content: Int64) -> Int64 {
  var fingerprint = Fingerprint(seed: 0)
  fingerprint.combine(UInt64(bitPattern: app))
  fingerprint.combine(UInt64(bitPattern: content))
  return fingerprint.value
}

extension UserSnapshots {
  /// Adds a snapshot; two API responses captured at one time complement each other.
  mutating func add(_ snapshot: Snapshot) {
    guard let same = snapshots.firstIndex(where: { $0.app == snapshot.app }) else {
      snapshots.append(snapshot)
      // They arrive by symbol, whose number depends on the order of archives.
      return snapshots.sort { $0.app < $1.app }
    }
    for entitlement in snapshot.entitlements
    where !snapshots[same].entitlements.contains(entitlement) {
      snapshots[same].entitlements.append(entitlement)
    }
  }
}
