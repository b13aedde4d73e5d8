/// A set of fingerprints in two bytes each that may contain a few more than were inserted: a Bloom
/// filter (Bloom 1970, "Space/time trade-offs in hash coding with allowable errors").
public struct KeyFilter: Sendable {
  private var bits: [UInt64]
  private let mask: UInt64

  /// Creates an empty filter for about `count` keys, with about 1 false positive in 1,000.
  init(count: Int) {
    let size = 1 << (Int.bitWidth - (max(count, 64) * 16 - 1).leadingZeroBitCount)
    bits = Array(repeating: 0, count: size / 64)
    mask = UInt64(size - 1)
  }

  /// Whether the key may have been inserted; false is certain.
  public func mayContain(_ key: Int64) -> Bool {
    places(of: key).allSatisfy { bits[Int($0 >> 6)] & (1 << ($0 & 63)) != 0 }
  }

  mutating func insert(_ key: Int64) {
    for place in places(of: key) { bits[Int(place >> 6)] |= 1 << (place & 63) }
  }

  /// Returns the positions of a key by double hashing; its upper half is the step.
  private func places(of key: Int64) -> some Sequence<UInt64> {
    let hash = UInt64(bitPattern: key)
    let step = hash >> 32 | 1
    // A closure that captured the filter itself would cause a copy of it at each insertion.
    let mask = mask
    return (0..<4).lazy.map { (hash &+ step &* $0) & mask }
  }
}
