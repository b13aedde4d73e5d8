public import Domain

/// A version of an event, whether it counts or not.
public struct EventVersion: Sendable, Equatable {
  /// Its content.
  public let event: Event
  /// Whether it is the version that counts.
  public let counts: Bool
  /// The transaction id as text.
  public let transaction: String

  init(_ record: EventRecord, of lineage: Int64, _ shop: SubscriptionScope) throws(SubledgerError) {
    event = try record.event(of: lineage, shop)
    counts = record.counts
    transaction = try record.transaction()
  }

  /// Whether this is a version of the other's event.
  func isVersion(of other: EventVersion) -> Bool {
    transaction == other.transaction && event.isVersion(of: other.event)
  }
}

/// Looks up the stored versions of an event.
struct StoredVersions {
  private let database: Connection

  init(_ database: Connection) { self.database = database }

  /// The lineages that hold versions of an event; its own when there are no others.
  func lineages(of event: Event) throws -> [Int64] {
    let lineages = try conflicts(event)
    return lineages.isEmpty ? [event.lineage] : lineages
  }

  /// Whether versions of an event may lie in several lineages.
  func isInConflict(_ event: Event) throws -> Bool { try !conflicts(event).isEmpty }

  /// All lineages with an event that has several versions, here or elsewhere.
  func lineagesInConflict() throws -> Set<Int64> {
    Set(try database.all("select distinct lineage from event_conflict") { $0.int64(0) })
  }

  private func conflicts(_ event: Event) throws -> [Int64] {
    try database.all(
      "select lineage from event_conflict where identity = ? and time = ? order by lineage",
      event.identity, event.time
    ) { $0.int64(0) }
  }

  /// The lineages within `keys` that hold this identity at this time.
  func lineages(
    within keys: ClosedRange<Int64>, holding identity: Int64, time: Int64
  ) throws -> [Int64] {
    var lineages: [Int64] = []
    try database.forEachRow(
      "select key, events from lineage where key between ? and ?", keys.lowerBound, keys.upperBound
    ) { row in
      var isHolder = false
      try EventRecords.forEach(in: row.blob(1)) { record in
        if record.identity == identity, record.time == time { isHolder = true }
      }
      if isHolder { lineages.append(row.int64(0)) }
    }
    return lineages
  }

  /// The versions of the event of `version` that lie in `lineages`.
  func versions(
    like version: EventVersion, in lineages: [Int64]
  ) throws -> [EventVersion] {
    try versions(named: version.event, in: lineages).filter { $0.isVersion(of: version) }
  }

  /// Everything in `lineage` that has `identity`.
  func versions(of identity: Int64, in lineage: Int64) throws -> [EventVersion] {
    var versions: [EventVersion] = []
    try withEvents(of: lineage) { bytes, shop in
      try EventRecords.forEach(in: bytes) { record in
        guard record.identity == identity else { return }
        versions.append(try EventVersion(record, of: lineage, shop))
      }
    }
    return versions
  }

  /// Everything in `lineages` that has the identity and time of `event`.
  func versions(named event: Event, in lineages: [Int64]) throws -> [EventVersion] {
    var versions: [EventVersion] = []
    for lineage in lineages {
      try withEvents(of: lineage) { bytes, shop in
        try EventRecords.forEach(in: bytes) { record in
          guard record.isNamed(like: event) else { return }
          versions.append(try EventVersion(record, of: lineage, shop))
        }
      }
    }
    return versions
  }

  /// Calls `body` with a copy of a lineage's events, when the lineage is stored.
  func withEvents(
    of lineage: Int64, _ body: (UnsafeRawBufferPointer, SubscriptionScope) throws -> Void
  ) throws {
    let found = try database.first(
      "select events, provider, app, environment, store from lineage where key = ?", lineage
    ) { (Array($0.blob(0)), try SubscriptionScope($0, from: 1)) }
    guard let (bytes, shop) = found else { return }
    try bytes.withUnsafeBytes { try body($0, shop) }
  }
}

extension EventRecord {
  /// Whether both have the same identity and time.
  func isNamed(like event: Event) -> Bool {
    identity == event.identity && time == event.time.milliseconds
  }
}
