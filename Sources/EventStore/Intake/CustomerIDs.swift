internal import Domain

/// The apps' own ids of users in an archive: for each user, the id in the newest message with one.
struct CustomerIDs {
  /// Newest id by user id; ids are bytes, whose order is also that of the database.
  private var newest: [[UInt8]: (made: Instant, id: [UInt8])] = [:]

  /// Memory in use, in bytes, approximately.
  var size: Int { newest.count * 256 }

  mutating func add(_ batch: EventBatch) {
    func bytes(_ range: TextRange) -> [UInt8] {
      Array(batch.arena[Int(range.lowerBound)..<Int(range.upperBound)])
    }
    for (event, sent) in zip(batch.events, batch.texts) where sent.customer.count > 0 {
      let (made, id, user) = (event.createdAt, bytes(sent.customer), bytes(sent.user))
      if let known = newest[user] {
        let isNewer =
          known.made == made ? known.id.lexicographicallyPrecedes(id) : known.made < made
        guard isNewer else { continue }
      }
      newest[user] = (made, id)
    }
  }

  /// Stores ids that are newer than the stored ones, except those of erased persons, and marks the
  /// subscriptions of users with another id as due.
  mutating func write(of archive: Int32, to database: Connection) throws {
    guard !newest.isEmpty else { return }
    let users = try UserKeys(database)
    let renewal = try database.statement(
      """
      update customer set made_ms = max(made_ms, ?2)
      where user = ?1 and id = ?3
        and archive = (select max(archive) from customer as other where other.user = ?1)
      """)
    let insertion = try database.statement(
      """
      insert into customer (user, made_ms, id, archive) select ?1, ?2, ?3, ?4
      where not exists (select 1 from erased where key in (?1, ?5))
        and not exists (
          select 1 from customer where user = ?1 and (made_ms, id) > (?2, ?3))
      on conflict (user, archive) do update set made_ms = ?2, id = ?3
      """)
    let touch = try database.statement(
      """
      insert into due (hour, lineage)
      select \(DueHour.atOnce), key from lineage
      where user = ? and user <> 0 and exists (select 1 from fold)
      on conflict do nothing
      """)
    for (user, customer) in newest {
      let key = try users.key(of: String(decoding: user, as: UTF8.self))
      let id = String(decoding: customer.id, as: UTF8.self)
      renewal.bindAll(key, customer.made, id)
      if try renewal.changedRow() { continue }
      insertion.bindAll(key, customer.made, id, archive, try users.key(of: id))
      if try insertion.changedRow() { try touch.run(key) }
    }
    newest = [:]
  }
}
