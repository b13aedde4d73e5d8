internal import Domain

/// Some events of a batch, by lineage.
struct SortedBatch: DeliveredEvents {
  private let wave: WriteBatch
  private let users: Range<Int>
  /// The entries of each lineage, in order of arrival.
  ///
  /// Lineage `i` has `places[starts[i]..<starts[i + 1]]`.
  private let places: [Int32]
  private let starts: [Int]
  /// The lineages that have events, by key.
  private let order: [Int]

  /// Lineages whose rows are made in one go.
  private static let pieceSize = 1_024

  init(of wave: WriteBatch, entries: Range<Int>, users: Range<Int>) {
    self.wave = wave
    self.users = users
    var starts = Array(repeating: 0, count: wave.lineages.count + 1)
    for entry in entries { starts[Int(wave.entries[entry].lineage) + 1] += 1 }
    for lineage in wave.lineages.indices { starts[lineage + 1] += starts[lineage] }
    var ends = starts
    var places = [Int32](repeating: 0, count: entries.count)
    for entry in entries {
      let lineage = Int(wave.entries[entry].lineage)
      places[ends[lineage]] = Int32(entry)
      ends[lineage] += 1
    }
    self.places = places
    self.starts = starts
    order = wave.lineages.indices.filter { starts[$0] < starts[$0 + 1] }
      .sorted { wave.lineages[$0].key < wave.lineages[$1].key }
  }

  func forEachLineage(_ body: (LineageHead, [DeliveredEvent]) throws -> Void) throws {
    try forEachLineage(of: order[...], body)
  }

  func pieces(_ rules: MergeRules) -> [RowPiece<NewLineages>]? {
    stride(from: 0, to: order.count, by: Self.pieceSize).map { start in
      let part = order[start..<min(start + Self.pieceSize, order.count)]
      return RowPiece {
        var making = LineageMaking(rules)
        try forEachLineage(of: part) { try making.add($1, of: $0) }
        return making.made
      }
    }
  }

  func forEachUser(_ body: (Int64, UnsafeRawBufferPointer) throws -> Void) throws {
    for user in wave.users[users].sorted(by: { $0.key < $1.key }) {
      try wave.ids.withBytes(at: user.id) { try body(user.key, $0) }
    }
  }

  private func forEachLineage(
    of part: ArraySlice<Int>, _ body: (LineageHead, [DeliveredEvent]) throws -> Void
  ) throws {
    try wave.contents.withPieces { contents in
      try wave.ids.withPieces { ids in
        var events: [DeliveredEvent] = []
        for number in part {
          events.removeAll(keepingCapacity: true)
          for place in places[starts[number]..<starts[number + 1]] {
            let entry = wave.entries[Int(place)]
            let record = EventRecord(
              time: entry.time, identity: entry.identity, user: entry.user,
              content: contents[entry.content])
            events.append(DeliveredEvent(record: record, number: Int32(wave.start) + place))
          }
          events.arrange()
          let lineage = wave.lineages[number]
          let head = LineageHead(
            key: lineage.key, shop: lineage.shop, original: ids[lineage.original])
          try body(head, events)
        }
      }
    }
  }
}
