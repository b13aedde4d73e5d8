import Formats
import TestSupport
import Domain

@testable import Providers

/// Instants: numbers compared with the exact fraction, dates with a count of days, and both printed
/// and parsed again.
func feedInstant(_ bytes: UnsafeRawBufferPointer) {
  for areMilliseconds in [false, true] {
    let read = InstantText.epoch(bytes, isMilliseconds: areMilliseconds)
    judge(read, areMilliseconds, ExactDecimal(bytes))
  }
  let read = InstantText.rfc3339(bytes)
  if let read { judgePrinted(read) }
  if let plain = plainInstant(Array(bytes)) {
    claim(read == plain, "\(bytes.text) is \(plain.milliseconds)")
  }
  if let named = captureTime(fileName: bytes.text, in: .utc) { judgePrinted(named) }
}

private func judgePrinted(_ instant: Instant) {
  claim(yearMilliseconds(1) <= instant.milliseconds, "no instant lies before the year 1")
  claim(instant.milliseconds < yearMilliseconds(10_000), "no instant lies behind the year 9999")
  withBytes(of: instant.text) { printed in
    claim(InstantText.rfc3339(printed) == instant, "a printed instant comes back: \(printed.text)")
    claim(plainInstant(Array(printed)) == instant, "a printed instant is right: \(printed.text)")
  }
}

/// Compares a number with its exact fraction.
private func judge(_ read: Instant?, _ areMilliseconds: Bool, _ exact: ExactDecimal?) {
  guard let exact else { return claim(read == nil, "what is no number is no instant") }
  guard let whole = exact.fraction(places: 0), let fine = exact.fraction(places: 3) else {
    let isZero = exact.digits == WholeNumber(0)
    return claim(isZero || exact.exponent < 0 || read == nil, "a huge number is no instant")
  }
  let seconds = exact.isNegative ? 1 - yearMilliseconds(1) / 1000 : yearMilliseconds(10_000) / 1000
  let isLarge = !(whole.numerator < WholeNumber(seconds.magnitude) * whole.denominator)
  let (numerator, denominator) = areMilliseconds || isLarge ? whole : fine
  let first = WholeNumber(yearMilliseconds(1).magnitude)
  let behind = WholeNumber(yearMilliseconds(10_000).magnitude)
  guard let read else {
    let limit = exact.isNegative ? first * denominator : behind * denominator
    return claim(
      exact.isNegative ? numerator > limit : !(numerator < limit),
      "a number inside the calendar is an instant")
  }
  let magnitude = WholeNumber(read.milliseconds.magnitude)
  if exact.isNegative {
    claim(read.milliseconds <= 0, "a negative number lies before 1970")
    claim(!(numerator > magnitude * denominator), "what is cut off is cut off towards the past")
    claim(
      magnitude * denominator < numerator + denominator, "at most a millisecond is cut off")
  } else {
    claim(read.milliseconds >= 0, "a positive number lies behind 1970")
    claim(!(numerator < magnitude * denominator), "what is cut off is cut off towards the past")
    claim(
      numerator < magnitude * denominator + denominator, "less than a millisecond is cut off")
  }
}

/// `2026-11-20T08:15:00Z`, with or without three decimals, computed in the simplest way; nil for
/// other forms and impossible fields.
private func plainInstant(_ text: [UInt8]) -> Instant? {
  guard text.count == 20 || text.count == 24 else { return nil }
  let marks: [(Int, Unicode.Scalar)] = [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")]
  guard marks.allSatisfy({ text[$0.0] == UInt8(ascii: $0.1) }), text.last == UInt8(ascii: "Z"),
    text.count == 20 || text[19] == UInt8(ascii: "."),
    let year = number(text[0..<4]), let month = number(text[5..<7]),
    let day = number(text[8..<10]), let hour = number(text[11..<13]),
    let minute = number(text[14..<16]), let second = number(text[17..<19]),
    let fraction = text.count == 20 ? 0 : number(text[20..<23]),
    year >= 1, month >= 1, month <= 12, day >= 1, day <= days(inMonth: month, of: year),
    hour < 24, minute < 60, second < 60
  else { return nil }
  let before = (1..<month).reduce(0) { $0 + days(inMonth: $1, of: year) } + day - 1
  let seconds = ((before * 24 + hour) * 60 + minute) * 60 + second
  return Instant(milliseconds: yearMilliseconds(year) + Int64(seconds * 1000 + fraction))
}

private func number(_ digits: ArraySlice<UInt8>) -> Int? {
  guard digits.allSatisfy({ 48...57 ~= $0 }) else { return nil }
  return digits.reduce(0) { $0 * 10 + Int($1) - 48 }
}

private func isLeap(_ year: Int) -> Bool {
  year % 400 == 0 || year % 4 == 0 && year % 100 != 0
}

private func days(inMonth month: Int, of year: Int) -> Int {
  if month == 2 { return isLeap(year) ? 29 : 28 }
  return [4, 6, 9, 11].contains(month) ? 30 : 31
}

/// The start of a year from 1 to 10000, relative to 1970, added up year by year.
private func yearMilliseconds(_ year: Int) -> Int64 { yearStarts[year] }

private let yearStarts: [Int64] = {
  var starts: [Int64] = [0, 0]
  for year in 1..<10_000 {
    starts.append(starts[year] + (isLeap(year) ? 366 : 365) * 86_400_000)
  }
  let epoch = starts[1970]
  return starts.map { $0 - epoch }
}()
