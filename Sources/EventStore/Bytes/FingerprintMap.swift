/// Fingerprints and their small numbers.
///
/// Open addressing without a hash function: a fingerprint is one already. Three times as fast as a
/// dictionary, which matters where it is asked for every event.
struct FingerprintMap {
  private struct Slot {
    var key: Int64 = 0
    /// Negative in an empty slot.
    var value: Int32 = -1
  }

  private var slots = Array(repeating: Slot(), count: 1024)
  private var mask = 1023
  private(set) var count = 0

  /// The number of `key`; `next` is kept as its number when it has none.
  @inline(__always)
  mutating func value(of key: Int64, else next: Int32) -> Int32 {
    if count * 2 > mask { grow() }
    let place = place(of: key)
    let known = slots[place].value
    if known >= 0 { return known }
    slots[place] = Slot(key: key, value: next)
    count += 1
    return next
  }

  @inline(__always)
  private func place(of key: Int64) -> Int {
    var place = Int(truncatingIfNeeded: key) & mask
    while slots[place].value >= 0, slots[place].key != key { place = (place + 1) & mask }
    return place
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: Slot(), count: old.count * 2)
    mask = slots.count - 1
    for slot in old where slot.value >= 0 { slots[place(of: slot.key)] = slot }
  }
}
