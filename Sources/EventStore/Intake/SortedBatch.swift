/// Some events of a batch, by lineage.
struct SortedBatch: DeliveredEvents {
  private let batch: WriteBatch
  private let users: Range<Int>
  /// The entries of lineage `i`, in order of arrival, are `places[starts[i]..<starts[i + 1]]`.
  private let places: [Int32]
  private let starts: [Int]
  /// The lineages that have events, by key.
  private let order: [Int]

  /// Number of lineages per piece of rows.
  private static let pieceSize = 1_024
  /// Number of events of a lineage that are passed at a time.
  private static let partSize = 4_096

  init(of batch: WriteBatch, entries: Range<Int>, users: Range<Int>) {
    self.batch = batch
    self.users = users
    var starts = Array(repeating: 0, count: batch.lineages.count + 1)
    for entry in entries { starts[Int(batch.entries[entry].lineage) + 1] += 1 }
    for lineage in batch.lineages.indices { starts[lineage + 1] += starts[lineage] }
    var ends = starts
    var places = [Int32](repeating: 0, count: entries.count)
    for entry in entries {
      let lineage = Int(batch.entries[entry].lineage)
      places[ends[lineage]] = Int32(entry)
      ends[lineage] += 1
    }
    self.places = places
    self.starts = starts
    order = batch.lineages.indices.filter { starts[$0] < starts[$0 + 1] }
      .sorted { batch.lineages[$0].scope.lineage < batch.lineages[$1].scope.lineage }
  }

  func forEachLineage(_ body: (LineageHead, DeliveredParts) throws -> Void) throws {
    try forEachLineage(of: order[...], body)
  }

  func pieces(_ rules: MergeRules) -> [RowPiece<NewLineages>]? {
    stride(from: 0, to: order.count, by: Self.pieceSize).map { start in
      let part = order[start..<min(start + Self.pieceSize, order.count)]
      return {
        var new = NewLineages()
        var merge = LineageMerge(rules)
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        try forEachLineage(of: part) { head, parts in
          try merge.merge(parts, of: head, stored: nothing)
          new.add(head, merge.records)
        }
        new.notes = merge.notes
        return new
      }
    }
  }

  func forEachUser(_ body: (Int64, UnsafeRawBufferPointer) throws -> Void) throws {
    for user in batch.users[users].sorted(by: { $0.key < $1.key }) {
      try batch.ids.withBytes(at: user.id) { try body(user.key, $0) }
    }
  }

  private func forEachLineage(
    of part: ArraySlice<Int>, _ body: (LineageHead, DeliveredParts) throws -> Void
  ) throws {
    try batch.contents.withPieces { contents in
      try batch.ids.withPieces { ids in
        var events: [EventRecord] = []
        func read(_ places: ArraySlice<Int32>) {
          events.removeAll(keepingCapacity: true)
          for place in places {
            let entry = batch.entries[Int(place)]
            events.append(
              EventRecord(
                time: entry.time, identity: entry.identity, user: entry.user,
                version: Int64(batch.start) + Int64(place), content: contents[entry.content]))
          }
        }
        for number in part {
          let lineage = batch.lineages[number]
          let head = LineageHead(scope: lineage.scope, original: ids[lineage.original])
          try body(head) { take in
            let own = arranged(places[starts[number]..<starts[number + 1]])
            for start in stride(from: own.startIndex, to: own.endIndex, by: Self.partSize) {
              let end = min(start + Self.partSize, own.endIndex)
              read(own[start..<end])
              try take(events, end == own.endIndex)
            }
          }
        }
      }
    }
  }

  /// Returns the places sorted by time and identity of their events, copies in order of arrival;
  /// most are in this order already.
  private func arranged(_ places: ArraySlice<Int32>) -> ArraySlice<Int32> {
    let isArranged = zip(places, places.dropFirst()).allSatisfy(precedes)
    return isArranged ? places : places.sorted(by: precedes)[...]
  }

  /// Whether the event at one place precedes that at another.
  private func precedes(_ left: Int32, _ right: Int32) -> Bool {
    let (one, two) = (batch.entries[Int(left)], batch.entries[Int(right)])
    return (one.time, one.identity, left) < (two.time, two.identity, right)
  }
}
