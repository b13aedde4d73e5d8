internal import Domain

/// The counted content of one subscription, however its lines arrived.
public struct CountedContent: Sendable, Equatable {
  /// Number of counted events.
  public var events: Int64
  /// Fingerprint of its user and of the counted events' content as text.
  public var fingerprint: Int64
}

extension Ledger {
  /// Returns the counted content of the lineages within `keys`, by key.
  ///
  /// Two ledgers with the same lines return the same, regardless of which runs read the lines and
  /// how the ledgers numbered them.
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
