public import Domain

/// The origin of the events of some subscriptions: ids as text, and the archives of the events.
public struct EventSources: Sendable {
  private(set) var transactions: [Int64: String] = [:]
  /// Versions by event: the archive of each, and a value that copies of one version share.
  private var versions: [Int64: [(archive: Int32, content: Int)]] = [:]

  /// Returns the id of a transaction if it is not the number that is its key.
  public func transaction(_ key: Int64) -> String? { transactions[key] }

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
    var sources = EventSources()
    let worded = events.lineagesWithTextIDs
    for row in lineages {
      let hasTexts = row.hasTextIDs(worded)
      let hasVersions = row.hasSuperseded || contested.contains(row.key)
      guard hasTexts || hasVersions else { continue }
      try ledger.access("read the sources of events") { database in
        if hasTexts { try sources.addTransactions(in: row.key, database) }
        if hasVersions { try sources.addVersions(in: row, contested.contains(row.key), database) }
      }
    }
    return sources
  }
}

extension [Event] {
  /// The lineages with a transaction whose id is not the number that is its key.
  public var lineagesWithTextIDs: Set<Int64> {
    Set(lazy.filter { !$0.transaction.isPlainNumber }.map(\.lineage))
  }
}

extension LineageRow {
  /// Whether its id or, by `lineagesWithTextIDs`, a transaction id is not the number of its key.
  public func hasTextIDs(_ lineagesWithTextIDs: Set<Int64>) -> Bool {
    transactionKey(original) != Int64(original) || lineagesWithTextIDs.contains(key)
  }
}

extension Int64 {
  /// Whether it can be an id of at most 18 digits, instead of the fingerprint of another id.
  var isPlainNumber: Bool { (0..<1_000_000_000_000_000_000).contains(self) }
}

extension EventSources {
  mutating func addTransactions(in lineage: Int64, _ database: Connection) throws {
    try database.forEachRecord(of: lineage) { record in
      var event = SubscriptionScope().emptyEvent
      let id = try record.complete(&event).transaction(of: event)
      if transactionKey(id) != Int64(id) { transactions[transactionKey(id)] = id }
    }
  }

  /// Adds all versions of events that have several: here, or elsewhere if the lineage is contested.
  mutating func addVersions(
    in row: LineageRow, _ isContested: Bool, _ database: Connection
  ) throws {
    try database.forEachRow("select events from lineage where key = ?", row.key) { found in
      try database.forEachRival(
        in: found.blob(0), of: row, isContested: isContested
      ) { version, _ in
        let event = version.event
        versions[event.identity, default: []].append(
          (event.place.archive, event.material.hashValue))
      }
    }
  }
}
