internal import Domain

/// The fields that all delivered events of a lineage share.
struct LineageHead {
  var scope = SubscriptionScope()
  /// The original transaction id; valid as long as the bytes of the events.
  var original = UnsafeRawBufferPointer(start: nil, count: 0)

  var key: Int64 { scope.lineage }

  /// Whether both are one lineage, and do not just share a fingerprint by chance.
  func isSame(as other: LineageHead) -> Bool {
    scope == other.scope && original.isEqual(to: other.original)
  }
}

struct DeliveredEvent {
  var record: EventRecord
  /// Number of the event among all that are written together, in order of arrival.
  var number: Int32

  /// The order by time and identity; copies in order of arrival.
  @inline(__always)
  static func precedes(_ left: DeliveredEvent, _ right: DeliveredEvent) -> Bool {
    (left.record.time, left.record.identity, left.number)
      < (right.record.time, right.record.identity, right.number)
  }
}

/// Passes the sorted events of a lineage to `take`, some thousands at a time, and whether they are
/// the last; contents of all but the last are valid only until the next call.
typealias DeliveredParts = (
  _ take: ([DeliveredEvent], _ isLast: Bool) throws -> Void
) throws -> Void

/// Events that are written together, in the order of writing.
protocol DeliveredEvents {
  /// Calls `body` with each lineage in the order of keys, with its events.
  func forEachLineage(_ body: (LineageHead, DeliveredParts) throws -> Void) throws

  /// Returns the same lineages, merged with no others, for free threads; nil if only one can read.
  func pieces(_ rules: MergeRules) -> [RowPiece<NewLineages>]?

  /// Calls `body` with the key and the id of each user of the events, in the order of keys.
  func forEachUser(_ body: (Int64, UnsafeRawBufferPointer) throws -> Void) throws
}

/// The encoding of some delivered events of a lineage in a run: the shared fields, whether they are
/// the last events, the events as `EventRecords`, and their numbers.
struct DeliveredCoding {
  private(set) var writer = ByteWriter()
  private var records = ByteWriter()

  /// Encodes events of a lineage into `writer`.
  mutating func encode(_ head: LineageHead, _ events: [DeliveredEvent], isLast: Bool) {
    records.reset()
    EventRecords.encode(events.map(\.record), to: &records)
    writer.reset()
    var scope = head.scope
    scope.code(by: &writer)
    writer.put(head.original)
    writer.put(byte: isLast ? 1 : 0)
    records.bytes.withUnsafeBytes { writer.put($0) }
    for event in events { writer.put(unsigned: UInt64(event.number)) }
  }

  /// Decodes `events`, their common fields, and whether they are the last, valid like `bytes`.
  static func decode(
    _ bytes: UnsafeRawBufferPointer, key: Int64, into events: inout [DeliveredEvent]
  ) throws -> (head: LineageHead, isLast: Bool) {
    var reader = ByteReader(bytes)
    var scope = SubscriptionScope(lineage: key)
    scope.code(by: &reader)
    let original = reader.text()
    let isLast = reader.byte() != 0
    let records = reader.text()
    events.removeAll(keepingCapacity: true)
    try EventRecords.forEach(in: records) { record in
      let number = Int32(truncatingIfNeeded: reader.unsigned())
      events.append(DeliveredEvent(record: record, number: number))
    }
    guard reader.isSound, reader.isAtEnd else { throw EventRecords.damage }
    return (LineageHead(scope: scope, original: original), isLast)
  }
}

/// The results of events, by their numbers; one byte each if the numbers are close together.
struct DeliveredResults {
  private var writer = ByteWriter()
  private var last: Int32 = 0
  private(set) var count = 0

  mutating func add(_ number: Int32, _ result: UpsertResult) {
    writer.put(Int64(number - last) << 2 | Int64(result.rawValue))
    (last, count) = (number, count + 1)
  }

  func forEach(_ body: (Int32, UpsertResult) -> Void) {
    writer.bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      var number: Int32 = 0
      while !reader.isAtEnd {
        let next = reader.signed()
        number += Int32(truncatingIfNeeded: next >> 2)
        body(number, UpsertResult(rawValue: UInt8(next & 3)) ?? .new)
      }
    }
  }
}

/// A copy of the contents of some records, which point to it.
final class KeptContents {
  private let bytes: UnsafeMutableRawBufferPointer

  init(of records: inout ArraySlice<EventRecord>) {
    bytes = .allocate(byteCount: records.reduce(0) { $0 + $1.content.count }, alignment: 1)
    var end = 0
    for index in records.indices {
      let copy = UnsafeMutableRawBufferPointer(
        rebasing: bytes[end..<end + records[index].content.count])
      copy.copyMemory(from: records[index].content)
      records[index].content = UnsafeRawBufferPointer(copy)
      end += copy.count
    }
  }

  deinit { bytes.deallocate() }
}
