public import Domain

extension Ledger {
  /// Removes an event in all its versions, as if it had never arrived.
  ///
  /// For copies of a ledger: the accounts of archives and deliveries keep their numbers, and the
  /// index of identities an entry that leads nowhere.
  public func remove(_ event: Event) throws(LedgerError) {
    try change("remove an event") { database in
      let lineage = try database.statement("select events from lineage where key = ?")
      lineage.bind(1, event.lineage)
      var events = ByteWriter()
      let state = try lineage.first { row in
        var records: [EventRecord] = []
        try EventRecords.forEach(in: row.blob(0)) { record in
          if !record.isNamed(like: event) { records.append(record) }
        }
        EventRecords.encode(records, to: &events)
        return events.bytes.withUnsafeBytes { LineageState(records, events: $0) }
      }
      guard let state else { return }
      if state.versions == 0 {
        try database.run("delete from lineage where key = ?", event.lineage)
      } else {
        let lineages = try LineageWriter(database)
        try events.bytes.withUnsafeBytes {
          try lineages.renew(event.lineage, state, events: $0)
        }
      }
      try database.run(
        "delete from contested where identity = ? and time = ? and lineage = ?", event.identity,
        event.time, event.lineage)
    }
  }
}
