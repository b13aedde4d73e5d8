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

/// Writes one batch, sorted as the table is.
struct EventWriter {
  private let entry: ArchiveEntry
  private let symbols: [Symbol]
  private let lineages: LineageWriter
  private let versions: EventVersions
  private let insertion: RawStatement
  private let identityInsertion: RawStatement

  init(entry: ArchiveEntry, database: Database, symbols: [Symbol]) throws {
    self.entry = entry
    self.symbols = symbols
    lineages = try LineageWriter(database)
    versions = try EventVersions(database, words: entry.ledger.symbols.words, lineages: lineages)
    insertion = try RawStatement(cachedIn: database, EventColumns.insert)
    identityInsertion = try RawStatement(
      cachedIn: database,
      "insert into identity (key, lineage) values (?, ?) on conflict (key) do nothing")
  }

  /// What became of each event, in the batch's order.
  func write(_ batch: EventBatch) throws -> [EventFate] {
    let order = sorted(batch)
    var fates = [EventFate](repeating: .new, count: order.count)
    var added: [AddedIdentity] = []
    var stale: Set<Int64> = []
    added.reserveCapacity(order.count)
    try batch.arena.withUnsafeBytes { arena in
      var start = 0
      while start < order.count {
        let lineage = order[start].lineage
        var end = start + 1
        while end < order.count, order[end].lineage == lineage { end += 1 }
        try writeLineage(
          order[start..<end], batch, arena, fates: &fates, added: &added, stale: &stale)
        start = end
      }
      try claim(&added, batch, arena, fates: &fates, stale: &stale)
    }
    for lineage in stale.sorted() { try lineages.findUser(of: lineage) }
    return fates
  }

  private func writeLineage(
    _ keys: ArraySlice<EventKey>, _ batch: EventBatch, _ arena: UnsafeRawBufferPointer,
    fates: inout [EventFate], added: inout [AddedIdentity], stale: inout Set<Int64>
  ) throws {
    guard let first = keys.first else { return }
    let example = translated(batch.events[first.index])
    let known = try lineages.open(example, original: original(first.index, batch, arena))
    var newest: (user: Int64, time: Int64) = (0, 0)
    for key in keys {
      let event = translated(batch.events[key.index])
      let text = batch.texts[key.index]
      let transaction = bytes(text.transaction, arena)
      if event.user != 0 { try lineages.keep(user: event.user, id: bytes(text.user, arena)) }
      EventColumns.bind(
        event, version: 0, standing: true, transaction: transaction, to: insertion)
      if try insertion.insert() {
        added.append(
          AddedIdentity(identity: event.identity, lineage: event.lineage, index: key.index))
        if event.user != 0 { newest = (event.user, event.time.milliseconds) }
      } else {
        fates[key.index] = try versions.settle(event, transaction: transaction, stale: &stale)
      }
    }
    if try !lineages.propose(user: newest.user, time: newest.time, for: known) {
      stale.insert(first.lineage)
    }
  }

  /// Claims the identities of new events; one that another lineage holds is in conflict with it.
  private func claim(
    _ added: inout [AddedIdentity], _ batch: EventBatch, _ arena: UnsafeRawBufferPointer,
    fates: inout [EventFate], stale: inout Set<Int64>
  ) throws {
    // In the order of the table, which the lookups then walk once.
    added.sort { ($0.identity, $0.index) < ($1.identity, $1.index) }
    for claim in added {
      identityInsertion.bind(1, claim.identity)
      identityInsertion.bind(2, claim.lineage)
      guard try !identityInsertion.insert() else { continue }
      fates[claim.index] = try versions.contest(
        translated(batch.events[claim.index]),
        transaction: bytes(batch.texts[claim.index].transaction, arena), stale: &stale)
    }
  }

  private func sorted(_ batch: EventBatch) -> [EventKey] {
    var keys: [EventKey] = []
    keys.reserveCapacity(batch.events.count)
    for (index, event) in batch.events.enumerated() {
      keys.append(
        EventKey(
          lineage: event.lineage, time: event.time.milliseconds, identity: event.identity,
          index: index))
    }
    keys.sort()
    return keys
  }

  private func translated(_ event: Event) -> Event {
    var event = event
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
    event.place.archive = entry.id
    return event
  }

  /// The original transaction id, else the own one, which then begins the lineage.
  private func original(
    _ index: Int, _ batch: EventBatch, _ arena: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer {
    let text = batch.texts[index]
    return bytes(text.original.count > 0 ? text.original : text.transaction, arena)
  }

  private func bytes(
    _ range: TextRange, _ arena: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer {
    let start = Int(range.offset)
    return UnsafeRawBufferPointer(rebasing: arena[start..<start + Int(range.count)])
  }
}

/// Where an event of a batch goes in the table.
private struct EventKey: Comparable {
  let lineage: Int64
  let time: Int64
  let identity: Int64
  let index: Int

  static func < (left: EventKey, right: EventKey) -> Bool {
    if left.lineage != right.lineage { return left.lineage < right.lineage }
    if left.time != right.time { return left.time < right.time }
    if left.identity != right.identity { return left.identity < right.identity }
    return left.index < right.index
  }
}

private struct AddedIdentity {
  let identity: Int64
  let lineage: Int64
  let index: Int
}
