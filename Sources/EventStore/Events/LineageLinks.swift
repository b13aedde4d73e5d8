public import Domain

// Subscriptions of providers that report the same store transactions are folded together.

extension Ledger {
  /// Links subscriptions with new events to those that contain the same store transactions.
  ///
  /// With one provider, nothing is read or written. A link is never removed: folding more together
  /// than necessary is harmless.
  public func linkLineages() throws(SubledgerError) {
    try change("link subscriptions of several providers") { database in
      guard Set(try database.feeds().map(\.provider)).count > 1 else { return }
      // Fold groups with members that may be linked while others are not yet.
      var groups: Set<FoldGroup> = []
      let select = try Statement(
        database, LineageRow.selectWithEvents + " where l.key between ? and ?")
      func read(_ keys: ClosedRange<Int64>, isNew: Bool) throws {
        select.bindAll(keys.lowerBound, keys.upperBound)
        try select.forEachRow { found in
          let row = try LineageRow(found)
          for id in try row.storeIDs(found.blob(LineageRow.eventsColumn)).sorted() {
            guard let holder = try database.holder(ofTransaction: id, in: row.store) else {
              try database.run(
                "insert into store_transaction (id, store, lineage) values (?, ?, ?)", id,
                row.store, row.key)
              continue
            }
            guard holder != row.key else { continue }
            try database.link([holder, row.key])
            if let other = try lineage(holder) { groups.insert(FoldGroup(of: other)) }
            groups.insert(FoldGroup(of: row))
          }
          if isNew { groups.insert(FoldGroup(of: row)) }
        }
      }
      if try database.areLinksUpToDate() {
        let touched = try database.all(
          "select lineage from due where hour = \(DueHour.atOnce)"
        ) { $0.int64(0) }
        for key in touched { try read(key...key, isNew: true) }
      } else {
        try read(.min ... .max, isNew: false)
      }
      // All subscriptions of one user stay together.
      for group in groups where group.user != 0 {
        let members = try lineages(in: group).map(\.key)
        if try members.contains(where: { try database.linkRoot(of: $0) != nil }) {
          try database.link(members)
        }
      }
    }
  }

  /// Whether several providers report the same store transactions.
  public func isLinked() throws(SubledgerError) -> Bool {
    try access("look for links") { try $0.isAny("lineage_link") }
  }

  /// Returns the first subscription with a store transaction, if several providers send events.
  public func lineage(
    withStoreTransaction id: Int64, in store: Store
  ) throws(SubledgerError) -> LineageRow? {
    try first(
      "read who reported a transaction",
      "\(LineageRow.select) join store_transaction t on lineage = key where id = ? and t.store = ?",
      id, store
    ) { try LineageRow($0) }
  }

  /// Returns the subscriptions that are folded together with `lineage`, of all providers, by key.
  public func linkedGroup(of lineage: LineageRow) throws(SubledgerError) -> [LineageRow] {
    let linked = try all(
      "read linked lineages",
      """
      \(LineageRow.select) where l.key in (
        select k.lineage from lineage_link k join lineage_link own using (root)
        where own.lineage = ?) order by l.key
      """, lineage.key
    ) { try LineageRow($0) }
    return linked.isEmpty ? try group(of: lineage) : linked
  }
}

extension Connection {
  /// Whether only subscriptions with new events have to be read to link them.
  func areLinksUpToDate() throws -> Bool {
    try isAny("fold") && isAny("store_transaction")
  }

  /// Returns the first subscription that contained a store transaction.
  func holder(ofTransaction id: Int64, in store: Store) throws -> Int64? {
    try first(
      "select lineage from store_transaction where id = ? and store = ?", id, store
    ) { $0.int64(0) }
  }

  /// Returns the least key of the subscriptions that are folded with this one; nil without links.
  func linkRoot(of lineage: Int64) throws -> Int64? {
    try first("select root from lineage_link where lineage = ?", lineage) { $0.int64(0) }
  }

  /// Links `lineages` to each other, and to everything that they are linked to.
  func link(_ lineages: [Int64]) throws {
    let roots = try lineages.map { try linkRoot(of: $0) ?? $0 }
    guard let root = roots.min() else { return }
    for other in Set(roots) where other != root {
      try run("update lineage_link set root = ? where root = ?", root, other)
    }
    for lineage in lineages {
      try run(
        "insert into lineage_link (lineage, root) values (?, ?) on conflict do nothing",
        lineage, root)
    }
  }
}

extension LineageRow {
  /// Returns `transactionKey` of the store's ids of the subscription, from all versions.
  func storeIDs(_ events: UnsafeRawBufferPointer) throws -> Set<Int64> {
    guard store != .unknown else { return [] }
    var ids: Set<Int64> = []
    try EventRecords.forEach(in: events) { ids.insert(try $0.event(of: scope).transaction) }
    if let originalID { ids.insert(originalID) }
    ids.remove(0)
    return ids
  }

  /// `transactionKey` of the original transaction id; nil for one built from the user's id.
  public var originalID: Int64? {
    original.contains("|") || original.hasPrefix("user:") ? nil : transactionKey(original)
  }
}
