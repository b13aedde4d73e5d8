internal import Domain

/// One version of an event as stored in `lineage.events`: the fields that find, order and count
/// events, and the other fields as `EventCoding` wrote them.
struct EventRecord {
  var time: Int64
  var identity: Int64
  /// Fingerprint of the user id; 0 if unknown.
  var user: Int64
  /// 0, 1, …: the versions of an identity in order of arrival; of an event that is still to be
  /// written, its number in that order.
  var version: Int64 = 0
  var counts = true
  /// Valid as long as its source, or the batch that owns it.
  var content: UnsafeRawBufferPointer
}

/// The sequence of event versions in `lineage.events`.
///
/// They are sorted by time, identity and version. Each consists of a byte of flags; the time since
/// the previous one; the identity; the user if it changes; the version unless 0; and the content
/// with its length. A lineage is one row, because one row per event needs seven times as many calls
/// of SQLite and half as many bytes again (docs/benchmarks.md).
enum EventRecords {
  private enum Flag {
    static let counts: UInt8 = 1
    static let hasVersion: UInt8 = 2
    static let newUser: UInt8 = 4
  }

  /// Encodes `records`, which are sorted.
  static func encode(_ records: [EventRecord], to writer: inout ByteWriter) {
    var time: Int64 = 0
    var user: Int64 = 0
    for record in records {
      var distance = record.time &- time
      var flags = record.counts ? Flag.counts : 0
      if record.version != 0 { flags |= Flag.hasVersion }
      if record.user != user { flags |= Flag.newUser }
      writer.put(byte: flags)
      writer.code(&distance, unit: 1000)
      writer.put(hash: record.identity)
      if record.user != user { writer.put(hash: record.user) }
      if record.version != 0 { writer.put(record.version) }
      writer.put(record.content)
      time = record.time
      user = record.user
    }
  }

  /// Calls `body` with every version, in order; the content is valid as long as `bytes`.
  @inline(__always)
  static func forEach(
    in bytes: UnsafeRawBufferPointer, _ body: (EventRecord) throws -> Void
  ) throws {
    var reader = ByteReader(bytes)
    var (time, distance): (Int64, Int64) = (0, 0)
    var user: Int64 = 0
    while !reader.isAtEnd {
      let flags = reader.byte()
      reader.code(&distance, unit: 1000)
      time = time &+ distance
      let identity = reader.hash()
      if flags & Flag.newUser != 0 { user = reader.hash() }
      let version = flags & Flag.hasVersion != 0 ? reader.signed() : 0
      let content = reader.text()
      guard reader.isSound else { throw damage }
      try body(
        EventRecord(
          time: time, identity: identity, user: user, version: version,
          counts: flags & Flag.counts != 0, content: content))
    }
  }

  static var damage: SubledgerError { .damaged("an event") }
}

extension EventRecord {
  func event(of scope: SubscriptionScope) throws(SubledgerError) -> Event {
    var event = scope.emptyEvent
    try complete(&event)
    return event
  }

  /// Completes `event`, which already has the fields that its lineage shares; returns the rest.
  @inline(__always)
  @discardableResult
  func complete(_ event: inout Event) throws(SubledgerError) -> EventCoding.Parts {
    event.time = Instant(milliseconds: time)
    event.identity = identity
    event.user = user
    guard let rest = EventCoding.decode(content, into: &event) else { throw EventRecords.damage }
    return rest
  }

  /// Whether its body contained entitlements that the event does not explain.
  var hasEntitlements: Bool { EventCoding.hasEntitlements(content) }
}
