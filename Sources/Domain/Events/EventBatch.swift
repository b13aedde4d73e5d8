/// A text as its bytes in a batch's arena, numbered from 0; `0..<0` for none.
public typealias TextRange = Range<Int32>

extension UnsafeRawBufferPointer {
  /// The bytes of a text in this arena.
  public func slice(_ range: TextRange) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[Int(range.lowerBound)..<Int(range.upperBound)])
  }
}

/// The ids of one event as text.
public struct EventText: Sendable, Hashable {
  /// Transaction id; empty when not sent.
  public var transaction: TextRange = 0..<0
  /// Original transaction id, or its substitute.
  public var original: TextRange = 0..<0
  /// User id; empty when not sent.
  public var user: TextRange = 0..<0
  /// The app's own id of the user; empty unless configured.
  public var customer: TextRange = 0..<0

  /// No ids yet.
  public init() {}
}

/// A line that could not be parsed; its content is never kept.
public struct Reject: Codable, Sendable, Hashable {
  /// The archive, line and byte of the value.
  public var place: Provenance
  /// A word from a fixed list, such as `not_json`.
  public var reason: String
  /// The defect, without any value of the line.
  public var detail: String

  /// A rejected line.
  public init(place: Provenance, reason: String, detail: String) {
    self.place = place
    self.reason = reason
    self.detail = detail
  }
}

/// What a body lacks, or contains in addition to its events.
public struct BodyNotes: Sendable, Equatable {
  /// The first event of the body, from 0.
  public let event: Int32
  /// Amounts with more than six decimals, rounded half to even.
  public let roundedAmounts: Int64
  /// 1 for a charge or refund without `is_proceed`, which is read as 0; else 0.
  public let missingIsProceed: Int64
  /// All entitlements of the body, in its order, if they contain more than its event does; else
  /// none.
  public let entitlements: [Entitlement]
}

/// The events of a range of one archive, with counters for its lines.
///
/// All texts are in one arena and frequent strings in one table, so that a batch of thousands of
/// events needs only a few allocations.
public struct EventBatch: Sendable {
  /// The events in the order of their JSON values.
  public var events: [Event] = []
  /// Ids as text; `texts[i]` belongs to `events[i]`.
  public var texts: [EventText] = []
  /// The value of the batch that contained the event; `values[i]` belongs to `events[i]`.
  public var values: [Int32] = []
  /// The bytes of all ids, one after another.
  public var arena: [UInt8] = []
  /// The strings of the events' symbols.
  public var symbols = StringTable()
  /// Lines that could not be parsed, in order.
  public var rejects: [Reject] = []
  /// Lines that are not purchase events, by reason.
  public var skipped: [String: Int64] = [:]
  /// Names in the bodies whose meaning is unknown.
  public var unknown = UnknownInput()
  /// JSON values read: accepted, skipped and rejected.
  public var lines: Int64 = 0
  /// Notes on bodies, in the order of their events; there are few.
  public private(set) var notes: [BodyNotes] = []

  /// An empty batch with capacity for `room` events.
  public init(room: Int = 0) {
    events.reserveCapacity(room)
    texts.reserveCapacity(room)
    values.reserveCapacity(room)
    arena.reserveCapacity(room * 80)
  }

  /// Adds notes on the next event's body, if there is anything to note.
  public mutating func note(
    roundedAmounts: Int64 = 0, missingIsProceed: Int64 = 0, entitlements: [Entitlement] = []
  ) {
    guard roundedAmounts != 0 || missingIsProceed != 0 || !entitlements.isEmpty else { return }
    notes.append(
      BodyNotes(
        event: Int32(truncatingIfNeeded: events.count), roundedAmounts: roundedAmounts,
        missingIsProceed: missingIsProceed, entitlements: entitlements))
  }

  /// Copies `bytes` into the arena.
  public mutating func intern(_ bytes: UnsafeRawBufferPointer) -> TextRange {
    if bytes.isEmpty { return 0..<0 }
    let start = Int32(arena.count)
    arena.append(contentsOf: bytes)
    return start..<Int32(arena.count)
  }

  /// Copies `text` into the arena.
  public mutating func intern(_ text: String) -> TextRange {
    text.withBytes { intern($0) }
  }

  /// The text of `range`.
  public func text(_ range: TextRange) -> String {
    arena.withUnsafeBytes { String(decoding: $0.slice(range), as: UTF8.self) }
  }
}
