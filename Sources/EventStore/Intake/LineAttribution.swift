/// Where the events of an archive came from, until it is known what became of each: about two bytes
/// an event.
struct LineAttribution {
  struct Step {
    /// The value that brought the event, counted within its archive.
    let value: Int32
    /// Where its archive's account of arrivals counts it; nil for one that was delivered before.
    let arrival: Int32?
    var roundedAmounts: Int64 = 0
    var missingIsProceed: Int64 = 0
  }

  private var writer = ByteWriter()
  private var last: Int32 = 0

  /// Memory held, in bytes, about.
  var size: Int { writer.bytes.capacity }

  /// Adds an event; values rise.
  mutating func add(_ step: Step) {
    let isNoted = step.roundedAmounts != 0 || step.missingIsProceed != 0
    writer.put(unsigned: UInt64(step.value - last) << 1 | (isNoted ? 1 : 0))
    writer.put(unsigned: UInt64((step.arrival ?? -1) + 1))
    if isNoted {
      writer.put(unsigned: UInt64(step.roundedAmounts))
      writer.put(unsigned: UInt64(step.missingIsProceed))
    }
    last = step.value
  }

  /// Calls `body` for every event, in order.
  func forEach(_ body: (Step) -> Void) {
    writer.bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      var value: Int32 = 0
      while !reader.isAtEnd {
        let risen = reader.unsigned()
        value += Int32(truncatingIfNeeded: risen >> 1)
        let arrival = Int32(truncatingIfNeeded: reader.unsigned()) - 1
        var step = Step(value: value, arrival: arrival < 0 ? nil : arrival)
        if risen & 1 == 1 {
          step.roundedAmounts = Int64(truncatingIfNeeded: reader.unsigned())
          step.missingIsProceed = Int64(truncatingIfNeeded: reader.unsigned())
        }
        body(step)
      }
    }
  }
}
