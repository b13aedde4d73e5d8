import Formats
import TestSupport
import Testing
import Domain

@Suite("Numbers equal the exact fractions that their texts denote")
struct NumberDifferentialTests {
  @Test("Amounts and whole numbers equal exact fractions", arguments: 0..<20)
  func amounts(seed: UInt64) throws {
    var numbers = SeededNumbers(seed: seed)
    let most = WholeNumber.powerOfTen(18)
    for _ in 0..<500 {
      let text = text(&numbers)
      let exact = try #require(ExactDecimal(text.utf8), "\(text)")
      let (numerator, denominator) = try #require(exact.fraction(places: 6))
      switch Array(text.utf8).withUnsafeBytes({ DecimalText.amount($0) }) {
      case .amount(let amount, let wasRounded):
        let magnitude = WholeNumber(amount.micros.magnitude)
        #expect(magnitude.isHalfEven(numerator, over: denominator), "\(text): \(amount.micros)")
        #expect(wasRounded == (magnitude * denominator != numerator), "\(text)")
        #expect(amount == .zero || (amount.micros < 0) == exact.isNegative, "\(text)")
        #expect(!(numerator > most * denominator), "\(text)")
      case .tooLarge: #expect(numerator > most * denominator, "\(text)")
      case nil: Issue.record("\(text) is a number")
      }
    }
  }

  @Test("Seconds and milliseconds since 1970 equal exact fractions", arguments: 0..<20)
  func instants(seed: UInt64) throws {
    var numbers = SeededNumbers(seed: 100 + seed)
    for _ in 0..<500 {
      let text = text(&numbers)
      let exact = try #require(ExactDecimal(text.utf8), "\(text)")
      for isMilliseconds in [false, true] {
        let (numerator, denominator) = try #require(
          exact.fraction(places: isMilliseconds ? 0 : 3))
        let read = Array(text.utf8).withUnsafeBytes {
          InstantText.epoch($0, isMilliseconds: isMilliseconds)
        }
        // From 1970, year 1 is the nearer limit; more seconds than that are read as milliseconds.
        let isNear = !(numerator > WholeNumber(62_135_596_800_000) * denominator)
        guard let read, isMilliseconds || isNear else {
          #expect(!isNear, "\(text)")
          continue
        }
        let magnitude = WholeNumber(read.milliseconds.magnitude) * denominator
        let (later, earlier) = exact.isNegative ? (magnitude, numerator) : (numerator, magnitude)
        #expect(!(later < earlier), "\(text) is cut off towards the past")
        #expect(later.distance(to: earlier) < denominator, "\(text)")
        #expect(read.milliseconds == 0 || (read.milliseconds < 0) == exact.isNegative, "\(text)")
      }
    }
  }

  /// A JSON number of up to 30 digits, with or without a point, a sign and an exponent.
  private func text(_ numbers: inout SeededNumbers) -> String {
    var digits = ""
    for _ in 0...Int.random(in: 0..<30, using: &numbers) {
      digits += "\([0, 0, 0, 5, 9, 1, 2, 4, 9, 9].randomElement(using: &numbers) ?? 0)"
    }
    let point = Int.random(in: 0...digits.count, using: &numbers)
    let whole = digits.prefix(point).drop { $0 == "0" }
    var text = Bool.random(using: &numbers) ? "-" : ""
    text += whole.isEmpty ? "0" : String(whole)
    if point < digits.count { text += "." + digits.dropFirst(point) }
    if Int.random(in: 0..<3, using: &numbers) == 0 {
      let exponent = ["e", "E"].randomElement(using: &numbers) ?? "e"
      let sign = ["", "+", "-"].randomElement(using: &numbers) ?? ""
      text += exponent + sign + "\(Int.random(in: 0..<40, using: &numbers))"
    }
    return text
  }
}
