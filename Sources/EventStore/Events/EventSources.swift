public import Domain

/// What the events of some subscriptions have besides their content: ids as text, and the archives
/// that brought them.
public struct EventSources: Sendable {
  /// A version, or a copy of one, that is kept.
  struct Version: Sendable {
    /// The archive that brought it.
    let archive: Int32
    /// Equal for copies of one version.
    let content: Int
  }

  private var transactions: [Int64: String] = [:]
  private var versions: [Int64: [Version]] = [:]

  /// Nothing but what the events themselves hold.
  public init() {}

  /// The id of a transaction where it is not the number that is its key.
  public func transaction(_ key: Int64) -> String? { transactions[key] }

  /// How many versions of `event` the archives up to `last` brought, and the first and the last
  /// archive that brought one.
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

/// Reads the sources of events, for which most subscriptions need not be read again.
public struct EventSourceReader: Sendable {
  /// The lineages that hold a version of an event of which another one holds one, too.
  private let contested: Set<Int64>

  /// A reader of the events that `ledger` has now.
  public init(_ ledger: Ledger) throws(SubledgerError) {
    contested = try ledger.access("read conflicts") { database in
      try StoredVersions(database).lineagesInConflict()
    }
  }

  /// The sources of `events` of some lineages, read from `ledger` by any thread.
  public func sources(
    of events: [Event], in lineages: [LineageRow], from ledger: Ledger
  ) throws(SubledgerError) -> EventSources {
    var sources = EventSources()
    for row in lineages {
      let hasTexts =
        transactionKey(row.original) != Int64(row.original)
        || events.contains { $0.lineage == row.key && !$0.transaction.isPlainNumber }
      let hasVersions = row.hasSuperseded || contested.contains(row.key)
      guard hasTexts || hasVersions else { continue }
      try ledger.access("read the sources of events") { database in
        let scope = SubscriptionScope(row)
        try database.forEachRecord(of: row.key) { record in
          if hasTexts { try sources.addTransaction(of: record) }
          guard hasVersions else { return }
          let event = try record.event(of: row.key, scope)
          try sources.addVersions(of: event, StoredVersions(database))
        }
      }
    }
    return sources
  }
}

extension Int64 {
  /// Whether it can be an id of at most 18 digits, rather than the fingerprint of another id.
  var isPlainNumber: Bool { (0..<1_000_000_000_000_000_000).contains(self) }
}

extension EventSources {
  mutating func addTransaction(of record: EventRecord) throws(SubledgerError) {
    let id = try record.transaction()
    if transactionKey(id) != Int64(id) { transactions[transactionKey(id)] = id }
  }

  /// Adds all versions of an event, wherever they lie, unless it has only the one.
  mutating func addVersions(of event: Event, _ stored: StoredVersions) throws {
    guard versions[event.identity] == nil else { return }
    let all = try stored.versions(named: event, in: stored.lineages(of: event))
      .filter { $0.event.isVersion(of: event) }
    guard all.count > 1 else { return }
    var contents: [Event] = []
    versions[event.identity] = all.map { version in
      let material = version.event.material
      let known = contents.firstIndex(of: material)
      if known == nil { contents.append(material) }
      return Version(
        archive: version.event.place.archive, content: known ?? contents.count - 1)
    }
  }
}
