public import Domain

/// The origin of the events of some subscriptions: ids as text, and the archives of the events.
public struct EventSources: Sendable {
  /// Ids of transactions that are not the numbers of their keys, by key.
  public let transactions: [Int64: String]
  /// Versions by event: the archive of each, and a value that copies of one version share.
  let versions: [Int64: [(archive: Int32, content: Int)]]

  /// Returns how many versions of `event` the archives up to `last` contained, and the first and
  /// the last archive that contained one.
  public func arrival(
    of identity: Int64, at place: Provenance, knownBy last: Int32
  ) -> (versions: Int, first: Int32, last: Int32) {
    guard let all = versions[identity] else { return (1, place.archive, place.archive) }
    let known = all.filter { $0.archive <= last }
    let archives = known.map(\.archive) + [place.archive]
    return (
      max(1, Set(known.map(\.content)).count), archives.min() ?? place.archive,
      archives.max() ?? place.archive
    )
  }
}

/// Reads the sources of events; most subscriptions need not be read again.
public struct EventSourceReader: Sendable {
  /// The lineages with a version of an event of which another lineage has a version, too.
  private let contested: Set<Int64>

  /// Creates a reader of the current events of `ledger`.
  public init(_ ledger: Ledger) throws(SubledgerError) {
    contested = try ledger.access("read conflicts") { try $0.lineagesInConflict() }
  }

  /// Returns the sources of `events` of some lineages, read from `ledger` by any thread.
  public func sources(
    of events: [Event], in lineages: [LineageRow], from ledger: Ledger
  ) throws(SubledgerError) -> EventSources {
    var versions: [Int64: [(archive: Int32, content: Int)]] = [:]
    try ledger.access("read the sources of events") { database in
      for row in lineages where row.hasSuperseded || contested.contains(row.key) {
        try database.forEachRow("select events from lineage where key = ?", row.key) { found in
          let isContested = contested.contains(row.key)
          try database.forEachRival(
            in: found.blob(0), of: row, isContested: isContested, words: ledger.symbols.words
          ) { rival in
            let event = rival.version.event
            versions[event.identity, default: []].append((event.place.archive, rival.materialHash))
          }
        }
      }
    }
    return EventSources(
      transactions: try ledger.transactionTexts(of: events, in: lineages), versions: versions)
  }
}

extension Ledger {
  /// Returns the transaction ids in `lineages` that are not the numbers of their keys, by key.
  ///
  /// Most subscriptions have none, as their ids and `events` show, and are not read.
  public func transactionTexts(
    of events: [Event], in lineages: [LineageRow]
  ) throws(SubledgerError) -> [Int64: String] {
    // An id of at most 18 digits is its own key.
    let numbers: Range<Int64> = 0..<1_000_000_000_000_000_000
    let worded = Set(events.lazy.filter { !numbers.contains($0.transaction) }.map(\.lineage))
    let read = lineages.filter {
      transactionKey($0.original) != Int64($0.original) || worded.contains($0.key)
    }
    return try access("read transaction ids") { database in
      var texts: [Int64: String] = [:]
      for row in read {
        try database.forEachRecord(of: row.key) { record in
          let id = try EventVersion(record, of: row.scope).transaction
          if transactionKey(id) != Int64(id) { texts[transactionKey(id)] = id }
        }
      }
      return texts
    }
  }
}
