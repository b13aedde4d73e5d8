public import Domain

extension Ledger {
  /// Returns a file's path, relative to its root, and the SHA-256 of its bytes; nil if unknown.
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
      try database.forEachRecord(of: lineage.key) { record in
        versions.append(try EventVersion(record, of: lineage.scope))
      }
      return versions
    }
  }

  /// Returns the versions of the event of `version` in other lineages.
  public func rivals(of version: EventVersion) throws(SubledgerError) -> [EventVersion] {
    try access("read the versions of an event") { database in
      let event = version.event
      var rivals: [EventVersion] = []
      let holders = try database.holders(of: event.identity, at: event.time.milliseconds)
      for lineage in holders where lineage != event.lineage {
        let wanted = [lineage...lineage: Set([event.identity])]
        try database.forEachVersion(of: wanted, words: symbols.words) { rival in
          if rival.version.isVersion(of: version) { rivals.append(rival.version) }
        }
      }
      return rivals
    }
  }

  /// Returns the lineages with this original transaction id, by key.
  ///
  /// An original id that is built from a user's id may be given with that id or with its key.
  public func lineages(original: String) throws(SubledgerError) -> [LineageRow] {
    var stored = original
    if let bar = original.lastIndex(of: "|") {
      stored = try userKey(of: String(original[..<bar])).userKeyText + original[bar...]
    } else if original.hasPrefix("user:") {
      stored = "user:\(try userKey(of: String(original.dropFirst(5))).userKeyText)"
    }
    return try all(
      "read a lineage",
      "\(LineageRow.select) where cast(l.original as text) in (?, ?) order by l.key",
      original, stored
    ) { try LineageRow($0) }
  }

  /// Returns capture time and provenance of a user's newest `count` snapshots, newest first.
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
