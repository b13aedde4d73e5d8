public import Domain

/// A version of an event, whether it counts or not.
public struct EventVersion: Sendable, Equatable {
  /// Its content.
  public let event: Event
  /// Whether it is the version that counts.
  public let counts: Bool
  /// The transaction id as text.
  public let transaction: String

  init(_ record: EventRecord, of scope: SubscriptionScope) throws(SubledgerError) {
    var event = scope.emptyEvent
    transaction = try record.complete(&event).transaction(of: event)
    (self.event, counts) = (event, record.counts)
  }

  func isVersion(of other: EventVersion) -> Bool {
    transaction == other.transaction && event.isVersion(of: other.event)
  }
}

extension Connection {
  /// Returns all lineages with an event that has several versions, here or elsewhere.
  func lineagesInConflict() throws -> Set<Int64> {
    Set(try all("select distinct lineage from event_conflict") { $0.int64(0) })
  }

  /// Returns the lineages that may contain versions of an event; empty when it has only one.
  func holders(of identity: Int64, at time: Int64) throws -> [Int64] {
    try all(
      "select lineage from event_conflict where identity = ? and time = ? order by lineage",
      identity, time
    ) { $0.int64(0) }
  }

  /// Calls `body` with the versions of the identities wanted within each range of keys, by key.
  func forEachVersion(
    of wanted: [ClosedRange<Int64>: Set<Int64>], words: [String],
    _ body: (VersionCandidate) throws -> Void
  ) throws {
    for (keys, identities) in wanted.sorted(by: { $0.key.lowerBound < $1.key.lowerBound }) {
      try forEachRow(
        "\(LineageRow.selectWithEvents) where l.key between ? and ?", keys.lowerBound,
        keys.upperBound
      ) { row in
        try EventRecords.forEach(in: row.blob(LineageRow.eventsColumn)) { record in
          guard identities.contains(record.identity) else { return }
          let version = try EventVersion(record, of: SubscriptionScope(row))
          try body(VersionCandidate(version, original: row.text(5), words: words))
        }
      }
    }
  }

  /// Calls `body` with every version, in any lineage, of the events of `row` that have several;
  /// `events` are its own, and other lineages are searched if it `isContested`.
  func forEachRival(
    in events: UnsafeRawBufferPointer, of row: LineageRow, isContested: Bool, words: [String],
    _ body: (VersionCandidate) throws -> Void
  ) throws {
    var wanted: [ClosedRange<Int64>: Set<Int64>] = [:]
    var last: EventRecord?
    try EventRecords.forEach(in: events) { record in
      defer { last = record }
      let isNamesake = last.map { !$0.precedes(record) } ?? false
      let holders = try isContested ? self.holders(of: record.identity, at: record.time) : []
      guard isNamesake || holders.count > 1 else { return }
      for lineage in holders + [row.key] {
        wanted[lineage...lineage, default: []].insert(record.identity)
      }
    }
    try forEachVersion(of: wanted, words: words, body)
  }
}
