public import Domain

// Moves events between a ledger that stores them and a lake.

extension Ledger {
  /// Calls `body` with every version of an event in the ledger, each in its own batch.
  public func forEachVersion(_ body: (EventBatch) throws -> Void) throws {
    try visit("read all events") { database in
      var users: [Int64: String] = [:]
      try database.forEachRow("\(LineageRow.selectWithEvents) order by l.key") { row in
        let scope = try SubscriptionScope(row)
        try EventRecords.forEach(in: row.blob(LineageRow.eventsColumn)) { record in
          if users.count > 10_000 { users = [:] }
          let user = try users[record.user] ?? userText(record.user) ?? ""
          users[record.user] = user
          var (batch, event) = (EventBatch(), scope.emptyEvent)
          let rest = try record.complete(&event)
          batch.symbols = symbols
          batch.note(entitlements: try rest.decodedEntitlements())
          batch.events = [event]
          batch.texts = [EventText()]
          batch.texts[0].original = batch.intern(row.bytes(5))
          batch.texts[0].transaction = batch.intern(rest.transaction(of: event))
          batch.texts[0].user = batch.intern(user)
          batch.values = [0]
          try body(batch)
        }
      }
    }
  }

  /// Removes the events, all of which are now in `part` of a lake, in one file per archive number;
  /// the names of linked subscriptions stay.
  public func leaveEvents(to part: String) throws {
    let linked = try linkedLineages()
    try change("leave events to a lake") { database in
      try database.run(
        """
        insert or replace into lake_archive (archive, part, file, attempt, published)
        select id, ?, id, 0, max(ifnull(known, 0), iif(id > folded, folded, 0))
        from (
          select id, kind, status, ifnull((select archive from fold), 0) as folded,
            max(id) over (order by run range between unbounded preceding and 1 preceding) as known
          from archive)
        where kind = 'events' and status <> 'repeated'
        """, part)
      try database.removeEvents()
      try database.execute("delete from identity; delete from event_conflict")
    }
    try replace(linked: linked, isWhole: true)
  }

  /// Marks the ledger as one that stores its events itself, without a lake.
  public func leaveLake() throws(SubledgerError) {
    try change("leave a lake") { try $0.execute("delete from lake_archive") }
  }

  /// Returns the users for whom archives after `archive` contained another id of an app.
  public func usersRenamed(since archive: Int32) throws(SubledgerError) -> [Int64] {
    try all("read ids of customers", "select user from customer where archive > ?", archive) {
      $0.int64(0)
    }
  }

  /// Returns the keys of erased persons.
  public func erasedUsers() throws(SubledgerError) -> Set<Int64> {
    Set(try all("read erased persons", "select key from erased") { $0.int64(0) })
  }
}

extension Connection {
  /// Removes events and everything that follows from them alone.
  func removeEvents() throws {
    try execute("delete from lineage_link; delete from lineage; delete from store_transaction")
  }
}
