public import Domain

extension Ledger {
  /// Returns the path of the file with this number, relative to its root, and the SHA-256 of its
  /// bytes; nil when the ledger has none.
  public func archiveLabel(
    _ id: Int32
  ) throws(SubledgerError) -> (name: String, sha256: String)? {
    try first("look for an archive", "select name, sha256 from archive where id = ?", id) {
      (name: $0.text(0), sha256: $0.text(1))
    }
  }

  /// Returns every version of a lineage's events, by time, identity and arrival.
  public func versions(ofLineage lineage: LineageRow) throws(SubledgerError) -> [EventVersion] {
    try access("read the events of a lineage") { database in
      var versions: [EventVersion] = []
      let shop = SubscriptionScope(lineage)
      try database.forEachRecord(of: lineage.key) { record in
        versions.append(try EventVersion(record, of: lineage.key, shop))
      }
      return versions
    }
  }

  /// Returns the versions of the event of `version` in other lineages.
  public func rivals(of version: EventVersion) throws(SubledgerError) -> [EventVersion] {
    try access("read the versions of an event") { database in
      let stored = StoredVersions(database)
      let event = version.event
      var rivals: [EventVersion] = []
      let holders = try stored.holders(of: event.identity, at: event.time.milliseconds)
      for lineage in holders where lineage != event.lineage {
        try stored.forEachVersion(of: [event.identity], within: lineage...lineage) { rival, _ in
          if rival.isVersion(of: version) { rivals.append(rival) }
        }
      }
      return rivals
    }
  }

  /// Returns the lineages with this original transaction id, of any provider, app and store, by
  /// key.
  ///
  /// An original id that is built from a user's id may be given with that id or with its key.
  public func lineages(original: String) throws(SubledgerError) -> [LineageRow] {
    let rows = try lineages(storedOriginal: original)
    if let bar = original.lastIndex(of: "|") {
      let user = try userKey(of: String(original[..<bar]))
      return rows + (try lineages(storedOriginal: user.userKeyText + original[bar...]))
    }
    guard original.hasPrefix("user:") else { return rows }
    let user = try userKey(of: String(original.dropFirst(5)))
    return rows + (try lineages(storedOriginal: "user:\(user.userKeyText)"))
  }

  private func lineages(storedOriginal original: String) throws(SubledgerError) -> [LineageRow] {
    var rows: [LineageRow] = []
    let query = "select distinct provider, app from lineage"
    let feeds = try all("read the feeds", query) {
      try Feed(provider: $0.provider(0), app: $0.symbol(1))
    }
    for feed in feeds {
      for environment in Environment.allCases {
        for store in Store.allCases {
          let key = lineageKey(
            provider: feed.provider, app: symbols.words[Int(feed.app)], environment: environment,
            store: store, original: original)
          if let row = try lineage(key), row.original == original { rows.append(row) }
        }
      }
    }
    return rows.sorted { $0.key < $1.key }
  }

  /// Returns when the newest `count` snapshots of a user up to `asOf` were captured, and their
  /// provenance; newest first.
  public func snapshotPlaces(
    ofUser user: Int64, provider: Provider, asOf: Instant, newest count: Int
  ) throws(SubledgerError) -> [(capturedAt: Instant, place: Provenance)] {
    try all(
      "read snapshots",
      """
      select captured_ms, archive, line, byte_offset from snapshot
      where provider = ? and user = ? and captured_ms <= ?
      order by captured_ms desc, archive, line, byte_offset limit ?
      """, provider, user, asOf, count
    ) { (capturedAt: $0.instant(0), place: $0.provenance(1)) }
  }
}
