public import Domain

/// The location of an archive's events in the lake.
public struct LakeArchive: Sendable, Equatable {
  /// The archive's number in the ledger; 0 before it has one.
  public var archive: Int32 = 0
  /// The folder of the run that read it.
  public var part: String
  /// The file's number in that folder, from 0.
  public var file: Int
  /// The attempt to read it that counts, from 0.
  public var attempt = 0
  /// The last archive that a run had published at that time.
  public var published: Int32 = 0
}

extension Ledger {
  /// Returns the archives whose events are in a lake, by number; empty if the ledger stores them.
  public func lakeArchives() throws(SubledgerError) -> [LakeArchive] {
    try all(
      "read where events lie",
      "select archive, part, file, attempt, published from lake_archive order by archive"
    ) { row in
      LakeArchive(
        archive: row.archive(0), part: row.text(1), file: Int(row.int64(2)),
        attempt: Int(row.int64(3)), published: row.archive(4))
    }
  }

  /// Records, before they are created, that some folders of a lake belong to this ledger.
  public func note(parts: [String]) throws {
    try change("name parts of a lake") { database in
      for part in parts { try database.run("insert into lake_part (part) values (?)", part) }
    }
    try sync()
  }

  /// Returns the folders of a lake that this ledger has begun but that contain no archive of it.
  public func lakeLeftovers() throws(SubledgerError) -> [String] {
    try all(
      "read what was left in a lake",
      "select part from lake_part except select part from lake_archive order by part"
    ) { $0.text(0) }
  }

  /// Whether events are stored in a lake, not in the ledger; nil before any archive of events.
  public func isOnLake() throws(SubledgerError) -> Bool? {
    try first(
      "look for where events lie",
      """
      select exists (select 1 from lake_archive) from archive
      where kind = 'events' and status <> 'repeated' limit 1
      """
    ) { $0.int64(0) == 1 }
  }
}

/// The name of a linked subscription, all that a ledger without events stores of it.
public struct NamedLineage: Codable, Sendable {
  let scope: SubscriptionScope
  let original: String
  let user: Int64
  let root: Int64
}

extension Ledger {
  /// Returns the subscriptions that are folded together with another provider's.
  public func linkedLineages() throws(SubledgerError) -> [NamedLineage] {
    try all(
      "read linked lineages",
      """
      select key, provider, app, environment, store, original, user, root
      from lineage_link join lineage on key = lineage order by key
      """
    ) { row in
      NamedLineage(
        scope: try SubscriptionScope(row), original: row.text(5), user: row.int64(6),
        root: row.int64(7))
    }
  }

  /// Replaces the names of subscriptions in a ledger without events.
  ///
  /// - Parameter isWhole: whether there are no others.
  public func replace(linked lineages: [NamedLineage], isWhole: Bool) throws(SubledgerError) {
    try change("keep linked lineages") { database in
      if isWhole { try database.execute("delete from lineage_link; delete from lineage") }
      for row in lineages {
        let scope = row.scope
        // As `LineageWriter` stores it.
        var original = row.original
        _ = try original.withUTF8 {
          try database.run(
            """
            insert or replace into lineage (
              key, provider, app, environment, store, user, original, versions, counted, compared,
              events)
            values (?, ?, ?, ?, ?, ?, ?, 0, 0, 0, x'')
            """, scope.lineage, scope.provider, scope.app, scope.environment, scope.store, row.user,
            OriginalID(id: UnsafeRawBufferPointer($0)))
        }
        try database.run(
          "insert or replace into lineage_link (lineage, root) values (?, ?)", scope.lineage,
          row.root)
      }
    }
  }
}
