internal import GRDB
internal import Vocabulary

/// What a delivered event was to the ledger.
enum EventFate: UInt8 {
  case new
  /// Known, and the body is the same byte for byte.
  case exact
  /// Known, in another body.
  case semantic
  /// Known, but something that reports read differs.
  case conflict
}

/// Writes batches of one archive, sorted as the table is.
struct EventWriter {
  private let entry: ArchiveEntry
  private let batches: [EventBatch]
  /// The ledger's symbols for those of each batch.
  private let symbols: [[Symbol]]
  private let lineages: LineageWriter
  private let versions: EventVersions
  private let insertion: RawStatement
  private let identityInsertion: RawStatement

  init(
    entry: ArchiveEntry, database: Database, batches: [EventBatch], symbols: [[Symbol]]
  ) throws {
    self.entry = entry
    self.batches = batches
    self.symbols = symbols
    lineages = try LineageWriter(database)
    versions = try EventVersions(database, words: entry.ledger.symbols.words, lineages: lineages)
    insertion = try RawStatement(cachedIn: database, EventColumns.insert)
    identityInsertion = try RawStatement(
      cachedIn: database,
      "insert into identity (key, lineage) values (?, ?) on conflict (key) do nothing")
  }

  /// What became of each event, by batch and in the batch's order.
  func write() throws -> [[EventFate]] {
    let order = sorted()
    var outcome = Outcome(batches)
    outcome.added.reserveCapacity(order.count)
    var start = 0
    while start < order.count {
      let lineage = order[start].lineage
      var end = start + 1
      while end < order.count, order[end].lineage == lineage { end += 1 }
      try writeLineage(order[start..<end], &outcome)
      start = end
    }
    try claim(&outcome)
    for lineage in outcome.stale.sorted() { try lineages.findUser(of: lineage) }
    return outcome.fates
  }

  private func writeLineage(_ keys: ArraySlice<EventKey>, _ outcome: inout Outcome) throws {
    guard let first = keys.first else { return }
    let example = translated(first.source)
    // By time, so the last one that has a user has the newest.
    let user = keys.last { event($0.source).user != 0 }.map { event($0.source).user } ?? 0
    let known = try withText(first.source, of: \.originalOrOwn) { original in
      let known = try lineages.user(of: example, original: original)
      if known == nil { try lineages.make(example, original: original, user: user) }
      return known
    }
    let isOfOneUser = keys.allSatisfy { event($0.source).user == user }
    var isUserClear = user == 0 || user == known ?? user
    var kept = known ?? 0
    for key in keys {
      let event = translated(key.source)
      if event.user != 0, event.user != kept {
        try withText(key.source, of: \.user) { try lineages.keep(user: event.user, id: $0) }
        kept = event.user
      }
      let isNew = try withText(key.source, of: \.transaction) { transaction in
        EventCoding.encode(event, transaction: transaction, to: &outcome.content)
        EventColumns.bind(
          event, version: 0, standing: true, content: outcome.content.bytes, to: insertion)
        if try insertion.insert() { return true }
        outcome[key.source] = try versions.settle(
          event, transaction: transaction, stale: &outcome.stale)
        return false
      }
      if isNew {
        outcome.added.append(AddedIdentity(identity: event.identity, source: key.source))
      } else if !isOfOneUser {
        isUserClear = false
      }
    }
    if !isUserClear { outcome.stale.insert(first.lineage) }
  }

  /// Claims the identities of new events; one that another lineage holds is in conflict with it.
  private func claim(_ outcome: inout Outcome) throws {
    // In the order of the table, which the lookups then walk once.
    outcome.added.sort()
    for claim in outcome.added {
      identityInsertion.bind(1, claim.identity)
      identityInsertion.bind(2, event(claim.source).lineage)
      guard try !identityInsertion.insert() else { continue }
      try withText(claim.source, of: \.transaction) { transaction in
        outcome[claim.source] = try versions.contest(
          translated(claim.source), transaction: transaction, stale: &outcome.stale)
      }
    }
  }

  private func sorted() -> [EventKey] {
    var keys: [EventKey] = []
    keys.reserveCapacity(batches.reduce(0) { $0 + $1.events.count })
    for (batch, content) in batches.enumerated() {
      for (index, event) in content.events.enumerated() {
        keys.append(
          EventKey(
            lineage: event.lineage, time: event.time.milliseconds, identity: event.identity,
            source: Source(batch: Int32(batch), index: Int32(index))))
      }
    }
    keys.sort()
    return keys
  }

  @inline(__always)
  private func event(_ source: Source) -> Event {
    batches[Int(source.batch)].events[Int(source.index)]
  }

  private func translated(_ source: Source) -> Event {
    let symbols = symbols[Int(source.batch)]
    var event = event(source)
    event.name = symbols[Int(event.name)]
    event.app = symbols[Int(event.app)]
    event.product = symbols[Int(event.product)]
    event.previousProduct = symbols[Int(event.previousProduct)]
    event.country = symbols[Int(event.country)]
    event.storefront = symbols[Int(event.storefront)]
    if let currency = event.revenue?.currency {
      event.revenue?.currency = symbols[Int(currency)]
    }
    if let currency = event.price?.currency { event.price?.currency = symbols[Int(currency)] }
    if let group = event.observation?.group { event.observation?.group = symbols[Int(group)] }
    event.place.archive = entry.id
    return event
  }

  /// Calls `body` with the bytes of one of an event's ids.
  @inline(__always)
  private func withText<Value>(
    _ source: Source, of id: (EventText) -> TextRange,
    _ body: (UnsafeRawBufferPointer) throws -> Value
  ) rethrows -> Value {
    let batch = batches[Int(source.batch)]
    let range = id(batch.texts[Int(source.index)])
    let start = Int(range.offset)
    return try batch.arena.withUnsafeBytes { arena in
      try body(UnsafeRawBufferPointer(rebasing: arena[start..<start + Int(range.count)]))
    }
  }
}

extension EventText {
  /// The original transaction id, else the own one, which then begins the lineage.
  var originalOrOwn: TextRange { original.count > 0 ? original : transaction }
}

/// Where an event came from: the batch among those written together, and its place there.
private struct Source: Comparable {
  let batch: Int32
  let index: Int32

  static func < (left: Source, right: Source) -> Bool {
    (left.batch, left.index) < (right.batch, right.index)
  }
}

/// Where an event goes in the table.
private struct EventKey: Comparable {
  let lineage: Int64
  let time: Int64
  let identity: Int64
  let source: Source

  static func < (left: EventKey, right: EventKey) -> Bool {
    if left.lineage != right.lineage { return left.lineage < right.lineage }
    if left.time != right.time { return left.time < right.time }
    if left.identity != right.identity { return left.identity < right.identity }
    return left.source < right.source
  }
}

/// An identity that its lineage did not have.
private struct AddedIdentity: Comparable {
  let identity: Int64
  let source: Source

  static func < (left: AddedIdentity, right: AddedIdentity) -> Bool {
    (left.identity, left.source) < (right.identity, right.source)
  }
}

/// What writing the batches has come to so far.
private struct Outcome {
  var fates: [[EventFate]]
  var added: [AddedIdentity] = []
  /// Lineages whose user only the stored events can tell.
  var stale: Set<Int64> = []
  /// The bytes of one event, in memory that is used again.
  var content = ByteWriter()

  init(_ batches: [EventBatch]) {
    fates = batches.map { Array(repeating: .new, count: $0.events.count) }
  }

  subscript(source: Source) -> EventFate {
    get { fates[Int(source.batch)][Int(source.index)] }
    set { fates[Int(source.batch)][Int(source.index)] = newValue }
  }
}
