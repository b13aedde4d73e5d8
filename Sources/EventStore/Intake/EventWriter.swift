/// Writes delivered events, lineage by lineage in the order of the table.
struct EventWriter {
  private let batch: WriteBuffer.Batch
  private let database: Connection
  private let lineages: LineageWriter
  private let versions: EventVersions
  private let identities: IdentityIndex
  private let isEmpty: Bool
  private var merge: LineageMerge
  /// The definition of the index of a new ledger, which is dropped while its rows are written.
  private var index: String?
  private var results: [UpsertResult]

  /// Number of notes that are gathered before they are applied.
  private static let notesMax = 1 << 20

  /// - Parameter published: the last archive of a published run; nil to read it from the ledger.
  init(
    _ batch: WriteBuffer.Batch, words: [String], database: Connection, published: Int32? = nil
  ) throws {
    self.batch = batch
    self.database = database
    identities = IdentityIndex(database)
    isEmpty = try !database.isAny("lineage")
    lineages = try LineageWriter(database, isEmpty: isEmpty)
    versions = EventVersions(database, words: words, lineages: lineages)
    merge = LineageMerge(
      MergeRules(
        words: words, areInConflict: try database.isAny("event_conflict"),
        published: try published ?? database.lastPublishedArchive(), stop: database.stop))
    results = Array(repeating: .new, count: batch.numbers.count)
    merge.notes.claims.reserveCapacity(min(batch.numbers.count, Self.notesMax))
  }

  var start: Int { batch.numbers.lowerBound }

  /// Begins to write rows that other threads create; empty when `write` creates all of them.
  mutating func pieces() throws -> [RowPiece<NewLineages>] {
    guard isEmpty, let pieces = batch.events.pieces(merge.rules) else { return [] }
    try dropIndex()
    return pieces
  }

  mutating func write(_ new: NewLineages) throws {
    try new.forEach { try lineages.make($0, $1, events: $2) }
    merge.notes += new.notes
    if merge.notes.count >= Self.notesMax { try applyNotes() }
  }

  /// Writes all except the rows of `pieces`; returns the result of each event, by number.
  mutating func write() throws -> [UpsertResult] {
    if index == nil {
      if isEmpty { try dropIndex() }
      try writeEvents()
    }
    if let index { try database.execute(index) }
    try applyNotes()
    let users = try UserKeys(database)
    try batch.events.forEachUser { try users.keep($0, id: $1) }
    return results
  }

  /// Drops the index: creating it at once is three times as fast, and fills its pages.
  private mutating func dropIndex() throws {
    index = try database.first(
      "select sql from sqlite_schema where name = 'lineage_by_user'"
    ) { $0.text(0) }
    try database.execute("drop index lineage_by_user")
  }

  /// Merges events with the stored ones, if there are any, lineage by lineage.
  private mutating func writeEvents() throws {
    var events = ByteWriter()
    try batch.events.forEachLineage { head, parts in
      var state: LineageState?
      // The state depends on contents in the row, which are valid only while it is read.
      let isKnown = try lineages.withEvents(of: head) { stored in
        try merge.merge(parts, of: head, stored: stored)
        guard merge.isChanged else { return }
        events.reset()
        EventRecords.encode(merge.records, to: &events)
        state = LineageState(merge.records)
      }
      if let state {
        try events.bytes.withUnsafeBytes {
          try isKnown
            ? lineages.renew(head.key, state, events: $0) : lineages.make(head, state, events: $0)
        }
      }
      if merge.notes.count >= Self.notesMax { try applyNotes() }
    }
  }

  /// Selects which versions count in the lineages that are written, and claims the identities of
  /// new events; an identity that another lineage contains is a conflict.
  private mutating func applyNotes() throws {
    merge.notes.results.forEach { results[place(of: $0)] = $1 }
    try versions.settle(merge.notes.contested)
    var claims = merge.notes.claims
    merge.notes = MergeNotes()
    claims.sort()
    var rivals: [IdentityIndex.Rivals] = []
    try identities.add(claims) {
      rivals.append($0)
      if rivals.count >= EventVersions.eventsMax { try settle(&rivals) }
    }
    try settle(&rivals)
  }

  /// Selects the versions that count of events that several lineages may contain.
  private mutating func settle(_ rivals: inout [IdentityIndex.Rivals]) throws {
    var wanted: [ClosedRange<Int64>: Set<Int64>] = [:]
    for rival in rivals {
      let identities = Set(rival.claims.map(\.identity))
      for keys in rival.keys { wanted[keys, default: []].formUnion(identities) }
    }
    let election = try versions.select(wanted)
    for claim in rivals.flatMap(\.claims)
    where election.isShared(claim.identity, by: claim.lineage) {
      results[place(of: claim.number)] = .conflict
    }
    rivals = []
  }

  private func place(of number: Int64) -> Int { Int(number) - batch.numbers.lowerBound }
}
