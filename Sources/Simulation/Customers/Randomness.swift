/// A deterministic random number generator: SplitMix64.
///
/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
/// Swift does not promise that its own generators give the same numbers in every version.
struct Randomness: Sendable {
  private var state: UInt64

  /// The stream `stream` of item `item` for a seed; different items share no numbers.
  init(seed: UInt64, item: UInt64, stream: UInt64) {
    state = Self.mix(seed &+ Self.mix(item &+ Self.mix(stream &+ 0x9e37_79b9_7f4a_7c15)))
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    return Self.mix(state)
  }

  /// A number from 0 up to, but not including, `bound`.
  mutating func below(_ bound: Int64) -> Int64 {
    precondition(bound > 0, "a range to draw from is not empty")
    return Int64(bitPattern: next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  /// A number from `low` to `high`, both included; `low` when the range is empty.
  mutating func between(_ low: Int64, _ high: Int64) -> Int64 {
    high <= low ? low : low + below(high - low + 1)
  }

  /// True in `share` of a million draws.
  mutating func chance(_ share: Int) -> Bool { below(1_000_000) < Int64(share) }

  static func mix(_ value: UInt64) -> UInt64 {
    var mixed = value
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
