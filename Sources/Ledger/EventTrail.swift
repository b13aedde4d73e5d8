/// Where the events of an archive came from, until it is known what became of each: about two bytes
/// an event.
struct EventTrail {
  struct Step {
    /// The value that brought the event, counted within its archive.
    let value: Int32
    /// Where its archive's account of arrivals counts it; nil for one that was delivered before.
    let arrival: Int32?
  }

  private var writer = ByteWriter()
  private var last: Int32 = 0

  /// Memory held, in bytes, about.
  var size: Int { writer.bytes.capacity }

  /// Adds an event; values rise.
  mutating func add(_ step: Step) {
    writer.put(unsigned: UInt64(step.value - last))
    writer.put(unsigned: UInt64((step.arrival ?? -1) + 1))
    last = step.value
  }

  /// Calls `body` for every event, in order.
  func forEach(_ body: (Step) -> Void) {
    writer.bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      var value: Int32 = 0
      while !reader.isAtEnd {
        value += Int32(truncatingIfNeeded: reader.unsigned())
        let arrival = Int32(truncatingIfNeeded: reader.unsigned()) - 1
        body(Step(value: value, arrival: arrival < 0 ? nil : arrival))
      }
    }
  }
}
