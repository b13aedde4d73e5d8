public import Domain

/// An event with several different versions.
public struct ConflictRow: Sendable, Equatable {
  /// The lineage of the version that counts.
  public var lineage: LineageRow
  /// The version that counts.
  public var event: Event
  /// Names of the fields that differ between any two versions, in a fixed order.
  public var fields: [String]
  /// Provenance of the latest `Event.versionsMax` versions: first the one that counts, the others
  /// by archive and line.
  public var places: [Provenance]
  /// Keys of the lineages that contain the versions.
  public var lineages: Set<Int64>
}

extension Ledger {
  /// Returns every event with more than one version, by identity and time.
  public func conflicts() throws(SubledgerError) -> [ConflictRow] {
    try access("read conflicts") { database in
      let rows = try database.all(
        "select identity, lineage from event_conflict order by identity, time"
      ) { (identity: $0.int64(0), lineage: $0.int64(1)) }
      var conflicts: [ConflictRow] = []
      var start = 0
      while start < rows.count {
        // Works in pieces, because each event can have many versions.
        var end = min(start + 1_024, rows.count)
        while end < rows.count, rows[end].identity == rows[end - 1].identity { end += 1 }
        conflicts += try self.conflicts(rows[start..<end], in: database)
        start = end
      }
      return conflicts
    }
  }

  private func conflicts(
    _ rows: ArraySlice<(identity: Int64, lineage: Int64)>, in database: Connection
  ) throws -> [ConflictRow] {
    let wanted = Dictionary(grouping: rows) { $0.lineage...$0.lineage }
    var versions: [Int64: [VersionCandidate]] = [:]
    try database.forEachVersion(
      of: wanted.mapValues { Set($0.map(\.identity)) }, words: symbols.words
    ) { versions[$0.version.event.identity, default: []].append($0) }
    return try versions.sorted { $0.key < $1.key }.flatMap { _, all in
      let winners = all.map(\.version).filter(\.counts).sorted { $0.event.time < $1.event.time }
      return try winners.compactMap { winner in
        try conflict(winner, all.filter { $0.version.isVersion(of: winner) })
      }
    }
  }

  private func conflict(_ winner: EventVersion, _ all: [VersionCandidate]) throws -> ConflictRow? {
    // The last one of copies that agree in all material fields.
    let last = Dictionary(all.map { ($0.material, $0) }) { $0.recency < $1.recency ? $1 : $0 }
    guard last.count > 1, let lineage = try lineage(winner.event.lineage) else { return nil }
    let latest = last.values.sorted {
      if $0.version.counts != $1.version.counts { return $0.version.counts }
      return $1.recency < $0.recency
    }.prefix(Event.versionsMax)
    let contents = latest.map {
      $0.version.event.materialFields(words: symbols.words, original: $0.original)
    }
    let fields = contents[0].indices.filter { field in
      contents.contains { !$0[field].value.isExactly(contents[0][field].value) }
    }
    return ConflictRow(
      lineage: lineage, event: winner.event, fields: fields.map { contents[0][$0].name },
      places: [winner.event.place] + latest.dropFirst().map(\.version.event.place).sorted(),
      lineages: Set(last.values.map(\.version.event.lineage)))
  }
}
