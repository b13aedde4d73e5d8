import Formats
import TestSupport
import Testing
import Domain

private func amount(_ text: String) -> ParsedAmount? {
  Array(text.utf8).withUnsafeBytes { DecimalText.amount($0) }
}

private func whole(_ text: String) -> Int64? {
  Array(text.utf8).withUnsafeBytes { DecimalText.int64($0) }
}

@Test(
  "Amounts are exact to the millionth",
  arguments: [
    ("0", 0), ("-0", 0), ("-0.000", 0), ("0e999999999", 0), ("6.99", 6_990_000),
    ("-7.61", -7_610_000), ("0.000001", 1), ("1e-6", 1), ("1E0", 1_000_000), ("70", 70_000_000),
    ("1.5e+3", 1_500_000_000), ("123456.789012", 123_456_789_012), ("0.1", 100_000),
    ("9.9900000000", 9_990_000), ("1000000000000", 1_000_000_000_000_000_000),
    ("-1e12", -1_000_000_000_000_000_000), ("0.000000000001e12", 1_000_000),
  ])
func readsAmount(text: String, micros: Int64) {
  #expect(amount(text) == .amount(Amount(micros: micros), wasRounded: false))
}

@Test(
  "More than six decimals are rounded half to even, and the rounding is reported",
  arguments: [
    ("0.0000005", 0), ("0.0000015", 2), ("0.0000025", 2), ("-0.0000015", -2), ("-0.0000005", 0),
    ("0.00000050000001", 1), ("0.00000149", 1), ("1.99999999", 2_000_000), ("1e-7", 0),
    ("5e-7", 0), ("5.1e-7", 1), ("9e-999999999", 0), ("0.33333333333333333333333333", 333_333),
    ("999999999999.9999999", 1_000_000_000_000_000_000), ("0.00000009", 0),
  ])
func roundsAmount(text: String, micros: Int64) {
  #expect(amount(text) == .amount(Amount(micros: micros), wasRounded: true))
}

@Test("Millionths are rounded like decimals, and have the same limit")
func readsMicros() {
  func micros(_ text: String) -> ParsedAmount? {
    Array(text.utf8).withUnsafeBytes { DecimalText.amount($0, places: 0) }
  }
  #expect(micros("-9990000") == .amount(Amount(micros: -9_990_000), wasRounded: false))
  #expect(micros("9990000.5") == .amount(Amount(micros: 9_990_000), wasRounded: true))
  #expect(micros("9990001.5") == .amount(Amount(micros: 9_990_002), wasRounded: true))
  #expect(micros("1e18") == .amount(Amount(micros: 1_000_000_000_000_000_000), wasRounded: false))
  #expect(micros("1000000000000000000.1") == .tooLarge && micros("x") == nil)
}

@Test(
  "More than 10¹² units are too large",
  arguments: [
    "1000000000000.000001", "1000000000000.0000001", "-1000000000001", "1e13", "1e999999999",
    "1e99999999999999999999999999", "99999999999999999999999999", "0.1e14",
    "18446744073709.551617", "1e18",
  ])
func refusesLargeAmount(text: String) {
  #expect(amount(text) == .tooLarge)
}

@Test(
  "Text that is not a JSON number is neither an amount nor a whole number",
  arguments: [
    "", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "1e-", "1,5", "1 ", " 1", "0x10", "NaN",
    "Infinity", "1.2.3", "1e5.5", "--1", "1_000", "12a", "٣",
  ])
func refusesNumber(text: String) {
  #expect(amount(text) == nil)
  #expect(whole(text) == nil)
}

@Test("A million digits are read quickly, whatever the exponent")
func readsLongNumber() {
  let zeros = String(repeating: "0", count: 1_000_000)
  #expect(amount("0.\(zeros)1e1000001") == .amount(Amount(micros: 1_000_000), wasRounded: false))
  #expect(amount("1\(zeros)e-1000000") == .amount(Amount(micros: 1_000_000), wasRounded: false))
  #expect(amount("1\(zeros)") == .tooLarge)
}

@Test("Random amounts equal the exact quotient of whole numbers", arguments: 0..<5)
func agreesWithDivision(seed: UInt64) {
  var numbers = SeededNumbers(seed: seed)
  for _ in 0..<2_000 {
    let digits =
      Int64.random(in: 0..<1_000_000_000_000, using: &numbers)
      >> Int64.random(in: 0..<40, using: &numbers)
    let decimals = Int.random(in: 0...12, using: &numbers)
    let exponent = Int.random(in: -12...6, using: &numbers)
    let isNegative = Bool.random(using: &numbers)
    let padded =
      String(repeating: "0", count: max(0, decimals + 1 - "\(digits)".count)) + "\(digits)"
    var text = (isNegative ? "-" : "") + padded.dropLast(decimals)
    if decimals > 0 { text += "." + padded.suffix(decimals) }
    if exponent != 0 { text += "e\(exponent)" }

    let shift = 6 + exponent - decimals
    let power = (0..<abs(shift)).reduce(Int128(1)) { power, _ in power * 10 }
    let numerator = Int128(isNegative ? -digits : digits) * (shift > 0 ? power : 1)
    let denominator = shift < 0 ? power : 1
    let expected: ParsedAmount? =
      numerator.magnitude > denominator.magnitude * 1_000_000_000_000_000_000
      ? .tooLarge
      : .amount(
        Amount(micros: Int64(numerator.dividedHalfToEven(by: denominator))),
        wasRounded: numerator % denominator != 0)
    #expect(amount(text) == expected, "\(text)")
  }
}

@Test(
  "Whole numbers are exact over the whole range, in every notation",
  arguments: [
    ("0", 0), ("-0", 0), ("-0.0e5", 0), ("1760000000", 1_760_000_000),
    ("1.76e9", 1_760_000_000), ("1760000000.0", 1_760_000_000), ("-42", -42), ("1e0", 1),
    ("2000000900000002", 2_000_000_900_000_002), ("100e-2", 1), ("1E+3", 1_000),
    ("9223372036854775807", .max), ("-9223372036854775808", .min),
    ("9.223372036854775807e18", .max),
  ] as [(String, Int64)])
func readsWhole(text: String, value: Int64) {
  #expect(whole(text) == value)
}

@Test(
  "Fractions and numbers beyond 64 bits are not whole numbers",
  arguments: [
    "0.5", "1.5", "1e-1", "9223372036854775808", "-9223372036854775809", "1e19", "1e999999999",
    "1e-999999999", "18446744073709551616", "18446744073709551615", "1760000000.000000000001",
  ])
func refusesWhole(text: String) {
  #expect(whole(text) == nil)
}
