public import Domain

/// Counts of what contains the id of an erased person.
public struct Erasure: Sendable, Equatable {
  /// The pseudonym.
  public var pseudonym: String
  /// Whether the id had been erased before.
  public var wasErased = false
  /// Subscriptions and purchases of the person.
  public var lineages: Int64 = 0
  /// Versions of their events.
  public var versions: Int64 = 0
  /// Snapshots of the person.
  public var snapshots: Int64 = 0
  /// Episodes of the person's breaks.
  public var breaks: Int64 = 0
  /// Subscriptions and snapshots with provider ids that contain the user's id and remain.
  public var providerIDs: Int64 = 0
  /// Files whose names contained the id.
  public var archives: Int64 = 0
  /// Decisions files that contained the id.
  public var documents: Int64 = 0
  /// Decisions of the newest run that contained the id.
  public var decisions: Int64 = 0
  /// Audit entries whose reason or actor contained the id.
  public var acts: Int64 = 0

  /// Names of apps, products, events and the like that contain the id and remain.
  public var names: Int64 = 0
  /// Price books and configurations of runs that contain the id and remain.
  public var settings: Int64 = 0

  /// Whether anything was changed.
  public var isChanged: Bool {
    var changes = self
    (changes.names, changes.settings) = (0, 0)
    return changes != Erasure(pseudonym: pseudonym, wasErased: true)
  }

  /// The counts for the audit entry, one fact per line.
  var lines: [String] {
    [
      "pseudonym \(pseudonym)", "lineages \(lineages)", "versions \(versions)",
      "snapshots \(snapshots)", "breaks \(breaks)", "archives \(archives)",
    ]
  }
}

extension Ledger {
  /// Replaces a person's id with a pseudonym in the table of users and in people's texts, removes
  /// the app's own ids of the person, and records the audit entry, in one transaction; `vacuum`
  /// then removes the ids from free space.
  ///
  /// All other rows refer to the person by key. `decisions` returns the content of a decisions file
  /// without the id, or nil when the file does not contain it. Returns nil when the ledger has no
  /// such user.
  public func erase(
    _ user: String, as act: AuditEntry,
    decisions: ([UInt8], Redaction) throws -> [UInt8]?
  ) throws -> Erasure? {
    try access("clear deleted rows") { try $0.execute("pragma secure_delete = on") }
    return try visit("erase a person") {
      try changeWhole($0) { try erase(user, as: act, decisions, in: $0) }
    }
  }

  private func erase(
    _ user: String, as new: AuditEntry, _ decisions: ([UInt8], Redaction) throws -> [UInt8]?,
    in database: Connection
  ) throws -> Erasure? {
    let key = try userKey(of: user)
    let known = try database.first(
      "select id, pseudonym from user left join erased using (key) where key = ?", key
    ) { ($0.text(0), $0.isNull(1) ? nil : $0.text(1)) }
    guard let (id, previous) = known else { return nil }
    if previous == user { return Erasure(pseudonym: user, wasErased: true) }
    guard previous != nil || id == user else { return nil }
    let before = try SealedParts(of: Self.rewritten, in: database)
    // Shorter ids would match anywhere.
    let customers = try database.all(
      "select id from customer where user = ? and length(cast(id as blob)) >= 8", key
    ) { $0.text(0) }
    var result =
      try previous.map { Erasure(pseudonym: $0, wasErased: true) }
      ?? replace(user, key, in: database)
    let texts = RedactedTexts(
      database: database,
      redaction: Redaction(id: user, others: customers, name: result.pseudonym))
    let decided = try texts.rewrite("decision", key: "break_id", ["reason", "who"])
    let archives = try texts.rewrite("archive", key: "id", ["path", "name"])
    (result.decisions, result.archives) = (Int64(decided.count), Int64(archives.count))
    let acts = try texts.writeActs()
    let documents = try texts.writeDocuments { try decisions($0, texts.redaction) }
    (result.acts, result.documents) = (Int64(acts.count), Int64(documents.count))
    (result.names, result.settings) = (try texts.namesHoldingID(), try texts.settingsHoldingID())
    guard result.isChanged else { return result }
    var act = new
    act.reason = texts.redaction.applied(to: act.reason)
    act.who = texts.redaction.applied(to: act.who)
    let rewritings = try before.rewritings() + documents + acts
    act.content = (result.lines + rewritings.map(\.line)).joined(separator: "\n")
    try record(act)
    return result
  }

  /// Sealed tables whose rows can contain an id.
  private static let rewritten: Set = ["archive", "decision", "erased"]

  /// Replaces the id with a random pseudonym, and counts the rows with its key.
  ///
  /// Ids of less than eight bytes would match anywhere.
  private func replace(
    _ id: String, _ user: Int64, in database: Connection
  ) throws -> Erasure {
    var result = Erasure(pseudonym: Self.newPseudonym)
    try database.run("update user set id = ? where key = ?", result.pseudonym, user)
    try database.run(
      "insert into erased (key, pseudonym) values (?, ?)", user, result.pseudonym)
    // The app's own id is recognized, too: it can arrive with another id of the person.
    let keys = try UserKeys(database)
    let customers = try database.all("select distinct id from customer where user = ?", user) {
      try keys.key(of: $0.text(0))
    }
    for key in customers where try !database.isAny("erased where key = ?", key) {
      let pseudonym = Self.newPseudonym
      try database.run(
        """
        insert into user (key, id) values (?1, ?2) on conflict (key) do update set id = ?2
        """, key, pseudonym)
      try database.run("insert into erased (key, pseudonym) values (?, ?)", key, pseudonym)
    }
    // Other users of the app's own id lose it, too.
    try database.run(
      "delete from customer where id in (select id from customer where user = ?1)", user)
    for key in Set([user] + customers) { try count(key, id, in: database, &result) }
    return result
  }

  /// Adds what refers to the user with that key, and what contains the erased `id`.
  private func count(
    _ user: Int64, _ id: String, in database: Connection, _ result: inout Erasure
  ) throws {
    try database.forEachRow(
      """
      select count(*), coalesce(sum(versions), 0),
        (select count(*) from snapshot where user = ?1),
        (select count(*) from break_episode where user = ?1),
        coalesce(sum(
          length(?2) >= 8 and (instr(original, ?2) or instr(events, cast(?2 as blob)))), 0)
        + (
          select count(*) from snapshot join snapshot_content on snapshot_content.key = content
          where user = ?1 and length(?2) >= 8 and instr(body, cast(?2 as blob)))
      from lineage where user = ?1 and user <> 0
      """, user, id
    ) { row in
      result.lineages += row.int64(0)
      result.versions += row.int64(1)
      result.snapshots += row.int64(2)
      result.breaks += row.int64(3)
      result.providerIDs += row.int64(4)
    }
  }

  private static var newPseudonym: String {
    "erased-\(UInt64.random(in: .min ... .max).hexadecimal)"
  }

  /// Returns the number of erased persons who have subscriptions or snapshots.
  public func erasedUsersCount() throws(SubledgerError) -> Int64 {
    try first(
      "count who was erased",
      """
      select count(*) from erased
      where exists (select 1 from lineage where user = erased.key and user <> 0)
        or exists (select 1 from snapshot where user = erased.key)
      """
    ) { $0.int64(0) } ?? 0
  }

  /// Erases in this ledger the persons that `other` has erased.
  public func adoptErasures(of other: Ledger) throws(SubledgerError) {
    let users = try other.all(
      "read erased persons", "select key, pseudonym from erased"
    ) { ($0.int64(0), $0.text(1)) }
    try change("keep persons erased") { database in
      for (key, pseudonym) in users {
        try database.run("insert into user (key, id) values (?, ?)", key, pseudonym)
        try database.run("insert into erased (key, pseudonym) values (?, ?)", key, pseudonym)
      }
    }
  }
}
