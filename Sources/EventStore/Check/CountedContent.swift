internal import Domain

/// What counts of one subscription, however its lines came.
public struct CountedContent: Sendable, Equatable {
  /// Its events that count.
  public var events: Int64
  /// Fingerprint of its user and of the events' content as text.
  public var fingerprint: Int64
}

extension Ledger {
  /// What counts of the lineages within `keys`, by key.
  ///
  /// Two ledgers of the same lines have the same, whatever runs read the lines and whatever
  /// numbers they gave them.
  public func countedContent(
    keys: ClosedRange<Int64>
  ) throws -> [Int64: CountedContent] {
    var contents: [Int64: CountedContent] = [:]
    try forEachLineage(keys: keys) { row, events in
      var sum = Fingerprint(seed: 6)
      sum.combine(UInt64(bitPattern: row.user))
      for event in events {
        sum.combine(UInt64(bitPattern: event.identity))
        sum.combine(UInt64(bitPattern: event.time.milliseconds))
        sum.combine(UInt64(bitPattern: event.body))
        sum.combine(UInt64(bitPattern: event.user))
        sum.combine(UInt64(bitPattern: event.created?.milliseconds ?? .min))
        sum.combine(UInt64(bitPattern: event.received?.milliseconds ?? .min))
        event.canonicalContent(words: symbols.words, original: row.original)
          .withUnsafeBytes { sum.combine($0) }
      }
      contents[row.key] = CountedContent(events: Int64(events.count), fingerprint: sum.value)
    }
    return contents
  }
}
