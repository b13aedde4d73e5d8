internal import GRDB
internal import Vocabulary

/// Writes delivered events, lineage by lineage in the order of the table.
struct EventWriter {
  private let batch: WaitingEvents.Batch
  private let database: Database
  private let lineages: LineageWriter
  private let versions: EventVersions
  private let index: IdentityIndex
  private let isEmpty: Bool
  private var merge: LineageMerge
  private var fates: [EventFate]
  private var claims: [IdentityIndex.Claim] = []
  private var doubts: [Doubt] = []
  /// The events of one lineage, in memory that is used again.
  private var bytes = ByteWriter()

  /// Claims that are gathered before they are entered in the index.
  private static let claimsMax = 1 << 20

  /// An identity of which it is to be found out which version counts.
  private struct Doubt: Hashable {
    let identity: Int64
    let lineage: Int64
  }

  /// A writer of the events of `batch`.
  init(_ batch: WaitingEvents.Batch, words: [String], database: Database) throws {
    self.batch = batch
    self.database = database
    lineages = try LineageWriter(database)
    versions = try EventVersions(database, words: words, lineages: lineages)
    index = try IdentityIndex(database)
    func isAny(_ table: String) throws -> Bool {
      try RawStatement(database, "select 1 from \(table) limit 1").first { _ in true } ?? false
    }
    isEmpty = try !isAny("lineage")
    merge = LineageMerge(
      hasContests: try isAny("contested"),
      published: try ArrivalRun(in: database).published(in: database))
    fates = Array(repeating: .new, count: batch.numbers.count)
    claims.reserveCapacity(min(batch.numbers.count, Self.claimsMax))
  }

  /// What became of each event, in the order of their numbers.
  mutating func write() throws -> [EventFate] {
    if isEmpty {
      try database.withoutIndex("lineage_by_user") { try writeEvents() }
    } else {
      try writeEvents()
    }
    try batch.events.forEachUser { key, id in try lineages.keep(user: key, id: id) }
    return fates
  }

  private mutating func writeEvents() throws {
    try batch.events.forEachLineage { head, events in
      try write(events, of: head)
      if claims.count >= Self.claimsMax { try settle() }
    }
    try settle()
  }

  private mutating func write(_ events: [DeliveredEvent], of head: LineageHead) throws {
    if isEmpty {
      try add(events, of: head, stored: UnsafeRawBufferPointer(start: nil, count: 0))
      return try lineages.make(head, merge.records, events: bytes)
    }
    let isKnown = try lineages.withEvents(of: head) { try add(events, of: head, stored: $0) }
    guard merge.isChanged else { return }
    if isKnown {
      try lineages.renew(head.key, merge.records, events: bytes)
    } else {
      try lineages.make(head, merge.records, events: bytes)
    }
  }

  /// Merges `events` with those that are stored, and leaves in `bytes` what is to be stored.
  private mutating func add(
    _ events: [DeliveredEvent], of head: LineageHead, stored: UnsafeRawBufferPointer
  ) throws {
    try merge.begin(head, stored: stored)
    for event in events {
      let fate = try merge.add(event.record)
      if fate == .new {
        claims.append(
          IdentityIndex.Claim(
            identity: event.record.identity, lineage: head.key, number: event.number))
      } else {
        fates[Int(event.number) - batch.numbers.lowerBound] = fate
      }
    }
    merge.finish()
    guard merge.isChanged else { return }
    EventRecords.encode(merge.records, to: &bytes)
    for identity in merge.doubtful {
      doubts.append(Doubt(identity: identity, lineage: head.key))
    }
  }

  /// Finds out which versions count of lineages that are written, and claims the identities of new
  /// events; one that another lineage holds is in conflict with it.
  private mutating func settle() throws {
    for doubt in doubts { try versions.settle(doubt.identity, in: doubt.lineage) }
    doubts.removeAll()
    IdentityIndex.sort(&claims)
    var rivals: [(claim: IdentityIndex.Claim, keys: ClosedRange<Int64>)] = []
    try index.add(claims) { rivals.append(($0, $1)) }
    claims.removeAll(keepingCapacity: true)
    for (claim, keys) in rivals {
      let fate = try versions.settle(claim.identity, in: claim.lineage, rivals: keys)
      if fate != .new { fates[Int(claim.number) - batch.numbers.lowerBound] = fate }
    }
  }
}

extension Database {
  /// Runs `body` while an index is away, and makes the index anew: in one go it is made three times
  /// as fast as row by row, and its pages are full.
  func withoutIndex<Value>(_ name: String, _ body: () throws -> Value) throws -> Value {
    let definition = try RawStatement(self, "select sql from sqlite_schema where name = '\(name)'")
      .first { $0.text(0) }
    try execute(sql: "drop index \(name)")
    let value = try body()
    if let definition { try execute(sql: definition) }
    return value
  }
}
