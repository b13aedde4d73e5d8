import TestSupport
import Testing
import Domain

@Suite("Amounts against exact fractions")
struct AmountTests {
  @Test("A scaled amount is the exact fraction rounded half to even", arguments: 0..<20)
  func scaling(seed: UInt64) {
    var numbers = SeededNumbers(seed: seed)
    for _ in 0..<500 {
      let micros = number(&numbers)
      let numerator = number(&numbers)
      let denominator = Int64(max(1, number(&numbers).magnitude >> 1))
      let exact = WholeNumber(micros.magnitude) * WholeNumber(numerator.magnitude)
      let divisor = WholeNumber(UInt64(denominator))
      let isNegative = (micros < 0) != (numerator < 0)
      if let scaled = try? Amount(micros: micros).scaled(by: numerator, over: denominator) {
        #expect(
          WholeNumber(scaled.micros.magnitude).isHalfEven(exact, over: divisor),
          "seed \(seed): \(micros) × \(numerator) / \(denominator) = \(scaled.micros)")
        #expect(scaled == .zero || (scaled.micros < 0) == isNegative)
      } else {
        // Half a millionth below the next whole number rounds up to it.
        let most = isNegative ? Int64.min.magnitude : Int64.max.magnitude
        let limit = WholeNumber(most) * WholeNumber(2) + WholeNumber(1)
        #expect(
          !(exact * WholeNumber(2) < limit * divisor),
          "seed \(seed): \(micros) × \(numerator) / \(denominator) fits")
      }
    }
  }

  @Test(
    "A share of a price is rounded half to even",
    arguments: [
      (9_990_000, 70_000_000, 6_993_000), (1, 50_000_000, 0), (3, 50_000_000, 2),
      (-1, 50_000_000, 0), (-3, 50_000_000, -2), (5, 70_000_000, 4), (5, 30_000_000, 2),
      (1_000_000_000_000_000_000, 100_000_000, 1_000_000_000_000_000_000), (10_000_000, 0, 0),
      (990_000, 12_500_000, 123_750),
    ] as [(Int64, Int64, Int64)])
  func share(price: Int64, rate: Int64, share: Int64) throws {
    #expect(try Amount(micros: price).percent(Amount(micros: rate)) == Amount(micros: share))
  }

  @Test("Sums beyond the range are errors in both directions")
  func overflow() throws {
    let most = Amount(micros: .max)
    #expect(throws: AmountOverflow.self) { try most.adding(Amount(micros: 1)) }
    #expect(throws: AmountOverflow.self) { try Amount(micros: .min).adding(Amount(micros: -1)) }
    #expect(throws: AmountOverflow.self) { try Amount(micros: -2).subtracting(most) }
    #expect(throws: AmountOverflow.self) { try most.scaled(by: 2, over: 1) }
    #expect(throws: AmountOverflow.self) { try most.grossedUp(by: Amount(micros: 1)) }
    #expect(try most.adding(Amount(micros: -1)).micros == .max - 1)
    #expect(try Amount(micros: -1).subtracting(most) == Amount(micros: .min))
    #expect(try most.scaled(by: .max, over: .max) == most)
  }

  @Test(
    "An amount prints every digit and no zero too many",
    arguments: [
      (0, "0.00"), (1, "0.000001"), (-1, "-0.000001"), (10_000, "0.01"), (-10_000, "-0.01"),
      (1_000_000, "1.00"), (12_500_000, "12.50"), (1_234_567, "1.234567"),
      (1_000_000_000_000_000_000, "1000000000000.00"), (.max, "9223372036854.775807"),
      (.min, "-9223372036854.775808"),
    ] as [(Int64, String)])
  func printing(micros: Int64, text: String) {
    #expect(Amount(micros: micros).text() == text)
  }

  /// Numbers of every length, including both ends of the range.
  private func number(_ numbers: inout SeededNumbers) -> Int64 {
    let ends: [Int64] = [0, 1, -1, .max, .min, 1_000_000_000_000_000_000]
    if numbers.next() % 16 == 0 { return ends[Int(numbers.next() % 6)] }
    return Int64(bitPattern: numbers.next()) >> Int64(numbers.next() % 64)
  }
}
