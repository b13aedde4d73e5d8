internal import Domain

/// How the delivered events of a lineage lie in a run: what all of them share, the events as
/// `EventRecords`, and their numbers.
struct DeliveredCoding {
  private(set) var writer = ByteWriter()
  private var records = ByteWriter()

  /// Leaves a lineage's events in `writer`.
  mutating func encode(_ head: LineageHead, _ events: [DeliveredEvent]) {
    records.reset()
    EventRecords.encode(events.map(\.record), to: &records)
    writer.reset()
    writer.put(Int64(head.shop.provider.rawValue))
    writer.put(Int64(head.shop.app))
    writer.put(Int64(head.shop.environment.rawValue))
    writer.put(Int64(head.shop.store.rawValue))
    writer.put(head.original)
    records.bytes.withUnsafeBytes { writer.put($0) }
    for event in events { writer.put(unsigned: UInt64(event.number)) }
  }

  /// Adds the events in `bytes`, and returns their common fields; both are valid as long as
  /// `bytes`.
  static func decode(
    _ bytes: UnsafeRawBufferPointer, key: Int64, into events: inout [DeliveredEvent]
  ) throws -> LineageHead {
    var reader = ByteReader(bytes)
    let shop = SubscriptionScope(
      provider: reader.value(Provider.self, else: .qonversion),
      app: StringID(truncatingIfNeeded: reader.signed()),
      environment: reader.value(Environment.self, else: .production),
      store: reader.value(Store.self, else: .unknown))
    let original = reader.text()
    let records = reader.text()
    try EventRecords.forEach(in: records) { record in
      let number = Int32(truncatingIfNeeded: reader.unsigned())
      events.append(DeliveredEvent(record: record, number: number))
    }
    guard reader.isSound, reader.isAtEnd else { throw EventRecords.damage }
    return LineageHead(key: key, shop: shop, original: original)
  }
}
