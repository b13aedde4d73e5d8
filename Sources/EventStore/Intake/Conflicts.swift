public import Domain

/// An event with two different versions.
public struct ConflictRow: Sendable, Equatable {
  /// The lineage of the version that counts.
  public var lineage: LineageRow
  /// The identity that the versions share.
  public var identity: Int64
  /// The version that counts.
  public var event: Event
  /// Transaction id as text.
  public var transaction: String
  /// Names of the fields that differ between any two versions, in a fixed order.
  public var fields: [String]
  /// Where each version stands, the one that counts first, the others by archive and line.
  public var places: [Provenance]
  /// Keys of the lineages that hold the versions.
  public var lineages: Set<Int64>
}

extension [EventVersion] {
  /// Of copies that agree in all that is material, the last one.
  var lastCopies: [EventVersion] {
    var last: [EventVersion] = []
    for version in self {
      let copy = last.firstIndex { $0.event.material == version.event.material }
      guard let copy else {
        last.append(version)
        continue
      }
      if Recency(of: last[copy].event) < Recency(of: version.event) { last[copy] = version }
    }
    return last
  }
}

extension Ledger {
  /// Every event with more than one version, by identity and time.
  public func conflicts() throws(SubledgerError) -> [ConflictRow] {
    try access("read conflicts") { database in
      let stored = StoredVersions(database)
      var conflicts: [ConflictRow] = []
      try database.forEachRow(
        "select distinct identity, time from event_conflict order by identity, time"
      ) { row in
        var probe = Event(kind: .other, time: row.instant(1))
        probe.identity = row.int64(0)
        let versions = try stored.versions(named: probe, in: stored.lineages(of: probe))
        for winner in versions where winner.counts {
          let group = versions.filter { $0.isVersion(of: winner) }.lastCopies
          guard group.count > 1 else { continue }
          if let conflict = try conflict(winner, group) { conflicts.append(conflict) }
        }
      }
      return conflicts
    }
  }

  private func conflict(_ winner: EventVersion, _ group: [EventVersion]) throws -> ConflictRow? {
    guard let lineage = try lineage(winner.event.lineage) else { return nil }
    let contents = try group.map { version in
      version.event.materialFields(
        words: symbols.words, original: try self.lineage(version.event.lineage)?.original ?? "")
    }
    let fields = contents[0].indices.filter { field in
      contents.contains { !$0[field].value.isExactly(contents[0][field].value) }
    }
    let others = group.filter { !$0.counts }.map(\.event.place).sorted()
    return ConflictRow(
      lineage: lineage, identity: winner.event.identity, event: winner.event,
      transaction: winner.transaction, fields: fields.map { contents[0][$0].name },
      places: [winner.event.place] + others, lineages: Set(group.map(\.event.lineage)))
  }
}
