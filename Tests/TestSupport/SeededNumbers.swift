/// A random number generator that repeats from its seed (SplitMix64).
public struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  /// A generator with this seed.
  public init(seed: UInt64) { state = seed }

  /// The next number.
  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// The next number, from 0 to `limit` - 1.
  public mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}
