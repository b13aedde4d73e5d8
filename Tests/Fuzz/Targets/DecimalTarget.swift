import Formats
import TestSupport
import Domain

/// Numbers: the parsed value must equal the exact fraction rounded half to even, and print back.
func feedDecimal(_ bytes: UnsafeRawBufferPointer) {
  let parsed = DecimalText.amount(bytes)
  guard let exact = ExactDecimal(bytes) else {
    claim(parsed == nil, "what is no number has no amount")
    claim(DecimalText.int64(bytes) == nil, "what is no number is no whole number")
    return
  }
  judgeInteger(DecimalText.int64(bytes), exact)
  guard let parsed else { return claim(false, "a number has an amount") }
  guard let (numerator, denominator) = exact.fraction(places: 6) else { return }
  switch parsed {
  case .tooLarge:
    claim(numerator > amountMax * denominator, "an amount up to 10^12 is not too large")
  case .amount(let amount, let wasRounded):
    let magnitude = WholeNumber(amount.micros.magnitude)
    claim(!(numerator > amountMax * denominator), "an amount beyond 10^12 is too large")
    claim(magnitude.isHalfEven(numerator, over: denominator), "it is rounded half to even")
    claim(wasRounded == (magnitude * denominator != numerator), "rounding is told")
    claim(amount.micros == 0 || (amount.micros < 0) == exact.isNegative, "the sign is right")
    withBytes(of: amount.text()) { printed in
      claim(
        DecimalText.amount(printed) == .amount(amount, wasRounded: false),
        "a printed amount comes back: \(printed.text)")
    }
  }
}

/// 10¹² units in millionths.
private let amountMax = WholeNumber.powerOfTen(18)

private func judgeInteger(_ number: Int64?, _ exact: ExactDecimal) {
  guard let (numerator, denominator) = exact.fraction(places: 0) else { return }
  if let number {
    claim(
      WholeNumber(number.magnitude) * denominator == numerator, "the whole number is the text's")
    claim(number == 0 || (number < 0) == exact.isNegative, "the whole number's sign is right")
  } else {
    let most = exact.isNegative ? Int64.min.magnitude : Int64.max.magnitude
    claim(
      !exact.isWhole || numerator > WholeNumber(most) * denominator,
      "a whole number that fits is one")
  }
}
