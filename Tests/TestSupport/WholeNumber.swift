/// A whole number from 0, of any size, with slow and simple schoolbook arithmetic to check the
/// program's exact arithmetic.
public struct WholeNumber: Hashable, Comparable, Sendable {
  /// Digits in base 2³², lowest first, without leading zeros.
  private var limbs: [UInt32]

  /// The same number.
  public init(_ value: UInt64) {
    limbs = [UInt32(truncatingIfNeeded: value), UInt32(truncatingIfNeeded: value >> 32)]
    trim()
  }

  /// Parses decimal digits in ASCII; nil when one is not a digit.
  public init?(digits: some Sequence<UInt8>) {
    limbs = []
    for byte in digits {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      add(times: 10, plus: UInt32(byte - UInt8(ascii: "0")))
    }
  }

  /// 10 to the power `exponent`.
  public static func powerOfTen(_ exponent: Int) -> WholeNumber {
    (0..<exponent).reduce(into: WholeNumber(1)) { power, _ in power.add(times: 10, plus: 0) }
  }

  /// Orders by value.
  public static func < (left: WholeNumber, right: WholeNumber) -> Bool {
    if left.limbs.count != right.limbs.count { return left.limbs.count < right.limbs.count }
    return left.limbs.reversed().lexicographicallyPrecedes(right.limbs.reversed())
  }

  /// The product.
  public static func * (left: WholeNumber, right: WholeNumber) -> WholeNumber {
    var product = [UInt32](repeating: 0, count: left.limbs.count + right.limbs.count)
    for (place, digit) in left.limbs.enumerated() {
      var carry: UInt64 = 0
      for (offset, other) in right.limbs.enumerated() {
        carry += UInt64(digit) * UInt64(other) + UInt64(product[place + offset])
        product[place + offset] = UInt32(truncatingIfNeeded: carry)
        carry >>= 32
      }
      product[place + right.limbs.count] = UInt32(carry)
    }
    return WholeNumber(limbs: product)
  }

  /// The sum.
  public static func + (left: WholeNumber, right: WholeNumber) -> WholeNumber {
    var sum: [UInt32] = []
    var carry: UInt64 = 0
    for place in 0..<max(left.limbs.count, right.limbs.count) + 1 {
      carry += UInt64(left.limb(place)) + UInt64(right.limb(place))
      sum.append(UInt32(truncatingIfNeeded: carry))
      carry >>= 32
    }
    return WholeNumber(limbs: sum)
  }

  /// The absolute difference of two numbers.
  public func distance(to other: WholeNumber) -> WholeNumber {
    let (larger, smaller) = self < other ? (other, self) : (self, other)
    var rest: [UInt32] = []
    var borrow: Int64 = 0
    for place in larger.limbs.indices {
      borrow += Int64(larger.limb(place)) - Int64(smaller.limb(place))
      rest.append(UInt32(truncatingIfNeeded: borrow))
      borrow >>= 32
    }
    return WholeNumber(limbs: rest)
  }

  /// Whether this number is `numerator` / `denominator` rounded half to even.
  public func isHalfEven(_ numerator: WholeNumber, over denominator: WholeNumber) -> Bool {
    let twice = (self * denominator).distance(to: numerator) * WholeNumber(2)
    return twice < denominator || twice == denominator && limb(0) % 2 == 0
  }

  private init(limbs: [UInt32]) {
    self.limbs = limbs
    trim()
  }

  private func limb(_ place: Int) -> UInt32 { place < limbs.count ? limbs[place] : 0 }

  private mutating func trim() { while limbs.last == 0 { limbs.removeLast() } }

  private mutating func add(times factor: UInt32, plus digit: UInt32) {
    var carry = UInt64(digit)
    for place in limbs.indices {
      carry += UInt64(limbs[place]) * UInt64(factor)
      limbs[place] = UInt32(truncatingIfNeeded: carry)
      carry >>= 32
    }
    if carry > 0 { limbs.append(UInt32(carry)) }
  }
}
