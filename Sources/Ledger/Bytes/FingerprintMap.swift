/// Fingerprints and the small numbers that stand for them.
///
/// Open addressing without a hash function: a fingerprint is one already. Three times as fast as a
/// dictionary, which matters where it is asked for every event.
struct FingerprintMap {
  private var keys: [Int64]
  private var values: [Int32]
  private var mask: Int
  private(set) var count = 0

  init() {
    keys = Array(repeating: 0, count: 1024)
    values = Array(repeating: -1, count: 1024)
    mask = 1023
  }

  /// The number of `key`; `next` is kept as its number when it has none.
  @inline(__always)
  mutating func value(of key: Int64, else next: Int32) -> Int32 {
    if count * 2 > mask { grow() }
    let slot = slot(of: key)
    if values[slot] < 0 {
      keys[slot] = key
      values[slot] = next
      count += 1
    }
    return values[slot]
  }

  /// Where `key` is, or belongs.
  @inline(__always)
  private func slot(of key: Int64) -> Int {
    var slot = Int(truncatingIfNeeded: key) & mask
    while values[slot] >= 0, keys[slot] != key { slot = (slot + 1) & mask }
    return slot
  }

  private mutating func grow() {
    let old = self
    keys = Array(repeating: 0, count: old.keys.count * 2)
    values = Array(repeating: -1, count: old.keys.count * 2)
    mask = keys.count - 1
    for index in old.keys.indices where old.values[index] >= 0 {
      let slot = slot(of: old.keys[index])
      keys[slot] = old.keys[index]
      values[slot] = old.values[index]
    }
  }
}
