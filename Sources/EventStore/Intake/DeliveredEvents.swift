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

/// Passes the sorted events of a lineage to `take`, some thousands at a time, and whether they are
/// the last.
///
/// The version of each is its number among all events that are written together, in order of
/// arrival. Contents of all but the last are valid only until the next call.
typealias DeliveredParts = (
  _ take: ([EventRecord], _ isLast: Bool) throws -> Void
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

/// The results of events, by their numbers; one byte each if the numbers are close together.
struct DeliveredResults {
  private var writer = ByteWriter()
  private var last: Int64 = 0
  private(set) var count = 0

  mutating func add(_ number: Int64, _ result: UpsertResult) {
    writer.put((number - last) << 2 | Int64(result.rawValue))
    (last, count) = (number, count + 1)
  }

  func forEach(_ body: (Int64, UpsertResult) -> Void) {
    writer.bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      var number: Int64 = 0
      while !reader.isAtEnd {
        let next = reader.signed()
        number += next >> 2
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
