/// A range of bytes in a batch's arena.
public struct TextRange: Sendable, Hashable {
  /// The first byte, from 0.
  public var offset: Int32
  /// The number of bytes.
  public var count: Int32

  /// No text.
  public static let none = TextRange(offset: 0, count: 0)
}

extension UnsafeRawBufferPointer {
  /// The bytes of a text in this arena.
  public func slice(_ range: TextRange) -> UnsafeRawBufferPointer {
    let start = Int(range.offset)
    return UnsafeRawBufferPointer(rebasing: self[start..<start + Int(range.count)])
  }
}

/// The ids of one event as text.
public struct EventText: Sendable, Hashable {
  /// Transaction id; empty when not sent.
  public var transaction = TextRange.none
  /// Original transaction id, or its substitute.
  public var original = TextRange.none
  /// User id; empty when not sent.
  public var user = TextRange.none
  /// The app's own id of the user; empty unless configured.
  public var customer = TextRange.none

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

/// Parts of a body that were rounded or completed by a default.
public struct BodyReading: Sendable, Hashable {
  /// The first event of the body, from 0.
  public let event: Int32
  /// Amounts with more than six decimals, rounded half to even.
  public let roundedAmounts: Int64
  /// 1 for a charge or refund without `is_proceed`, which is read as 0; else 0.
  public let missingIsProceed: Int64
}

/// The entitlements of a body that contain more than its event does.
public struct SentEntitlements: Sendable, Equatable {
  /// The event, from 0.
  public let event: Int32
  /// All entitlements of the body, in its order.
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
  /// Notes on bodies that were rounded or completed, in the order of their events; there are few.
  public private(set) var readings: [BodyReading] = []

  /// The entitlements that bodies contain in addition to their events, in the order of the events;
  /// there are few.
  public private(set) var entitlements: [SentEntitlements] = []

  /// An empty batch with capacity for `room` events.
  public init(room: Int = 0) {
    events.reserveCapacity(room)
    texts.reserveCapacity(room)
    values.reserveCapacity(room)
    arena.reserveCapacity(room * 80)
  }

  /// Adds a note about the next event if its body was rounded or completed.
  public mutating func note(roundedAmounts: Int64, missingIsProceed: Int64 = 0) {
    guard roundedAmounts != 0 || missingIsProceed != 0 else { return }
    readings.append(
      BodyReading(
        event: Int32(truncatingIfNeeded: events.count), roundedAmounts: roundedAmounts,
        missingIsProceed: missingIsProceed))
  }

  /// Adds the entitlements that the next event's body contains in addition to it.
  public mutating func note(_ sent: [Entitlement]) {
    guard !sent.isEmpty else { return }
    entitlements.append(
      SentEntitlements(event: Int32(truncatingIfNeeded: events.count), entitlements: sent))
  }

  /// Copies `bytes` into the arena.
  public mutating func intern(_ bytes: UnsafeRawBufferPointer) -> TextRange {
    if bytes.isEmpty { return .none }
    let range = TextRange(offset: Int32(arena.count), count: Int32(bytes.count))
    arena.append(contentsOf: bytes)
    return range
  }

  /// Copies `text` into the arena.
  public mutating func intern(_ text: String) -> TextRange {
    var text = text
    return text.withUTF8 { intern(UnsafeRawBufferPointer($0)) }
  }

  /// The text of `range`.
  public func text(_ range: TextRange) -> String {
    let start = Int(range.offset)
    return String(decoding: arena[start..<start + Int(range.count)], as: UTF8.self)
  }
}
