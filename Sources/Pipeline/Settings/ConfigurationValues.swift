import Formats
import Domain

/// What one value of a configuration file must look like.
extension ConfigurationReader {
  func mapping(_ value: Any, _ key: String) throws(SubledgerError) -> [(String, Any)] {
    guard let pairs = value as? [AnyHashable: Any] else {
      throw wrong(key, "must be a mapping of names to values")
    }
    var entries: [(String, Any)] = []
    for (name, entry) in pairs { entries.append((String(describing: name.base), entry)) }
    return entries.sorted { $0.0 < $1.0 }
  }

  func text(_ value: Any, _ key: String) throws(SubledgerError) -> String {
    switch value {
    case let text as String: return text
    case let number as Int: return String(number)
    default: throw wrong(key, "must be a text")
    }
  }

  func list(_ value: Any, _ key: String) throws(SubledgerError) -> [String] {
    guard let items = value as? [Any] else { return [try text(value, key)] }
    var texts: [String] = []
    for item in items { texts.append(try text(item, key)) }
    return texts
  }

  func number(
    _ value: Any, _ key: String, in range: ClosedRange<Int>
  ) throws(SubledgerError) -> Int {
    guard let number = value as? Int, range.contains(number) else {
      throw wrong(
        key, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// A number of bytes, from 1 to a gibibyte: offsets inside a value have four bytes.
  func size(_ value: Any, _ key: String) throws(SubledgerError) -> Int {
    try number(value, key, in: 1...1 << 30)
  }

  func flag(_ value: Any, _ key: String) throws(SubledgerError) -> Bool {
    guard let flag = value as? Bool else { throw wrong(key, "must be true or false") }
    return flag
  }

  /// The longest length of time: a hundred years, so that no sum of lengths and instants overflows.
  private static let longest = Interval.days(36_525)

  /// `24h`, `41h10m`, `60d`, `90s`, or a number of seconds.
  func interval(_ value: Any, _ key: String) throws(SubledgerError) -> Interval {
    let longest = Self.longest.milliseconds / 1000
    if let seconds = value as? Int, 0...Int(longest) ~= seconds { return .seconds(Int64(seconds)) }
    guard let text = value as? String, let interval = Interval(units: text),
      interval <= Self.longest
    else {
      throw wrong(key, "must be a length of time such as 24h, 41h10m or 60d, at most 36525d")
    }
    return interval
  }

  /// `[1m, 6m, 4h]`: the time from the first attempt to each retry; `[]` for none.
  func schedule(_ value: Any, _ key: String) throws(SubledgerError) -> RetrySchedule {
    var seconds: [Int64] = []
    for retry in value as? [Any] ?? [value] {
      seconds.append(try interval(retry, key).milliseconds / 1000)
    }
    guard let schedule = RetrySchedule(retriesAfter: seconds) else {
      throw wrong(key, "must be the times from the first attempt to each retry, ascending")
    }
    return schedule
  }

  func length(_ value: Any, _ key: String) throws(SubledgerError) -> PeriodLength {
    guard let length = PeriodLength(iso: try text(value, key)) else {
      throw wrong(key, "must be an ISO 8601 period such as P1M, P1Y or P7D")
    }
    return length
  }

  func eventKind(_ value: Any, _ key: String) throws(SubledgerError) -> EventKind {
    guard let kind = EventKind(name: try text(value, key)) else {
      let known = EventKind.allCases.map(\.name).joined(separator: ", ")
      throw wrong(key, "must be one of \(known)")
    }
    return kind
  }

  /// A plain amount such as `50` or `0.99`.
  func amount(_ value: Any, _ key: String) throws(SubledgerError) -> Amount {
    guard let amount = Amount(typed: "\(value)") else {
      throw wrong(
        key, "must be an amount such as 50 or 0.99, at most 10¹², of at most six decimals")
    }
    return amount
  }

  /// A share such as `0.01` or `1%`, as millionths; more than a whole only as `500%`, for a bare 5
  /// is mostly a percentage whose sign is missing.
  func share(_ value: Any, _ key: String) throws(SubledgerError) -> Amount {
    let written = "\(value)"
    let isPercent = written.hasSuffix("%")
    let digits = isPercent ? String(written.dropLast()) : written
    let parts: Int64 = isPercent ? 100 : 1
    // Nothing is rounded: a share of 0 would mean something else than a small one.
    guard let amount = Amount(typed: digits), amount.micros % parts == 0,
      isPercent || amount.micros <= 1_000_000
    else {
      throw wrong(
        key, "must be a share such as 0.01 or 1%, in whole millionths; above 1 write 500%, not 5")
    }
    return Amount(micros: amount.micros / parts)
  }

  func wrong(_ key: String, _ rule: String) -> SubledgerError {
    SubledgerError(
      .configuration, "in the configuration \(path), `\(key)` \(rule)",
      hint: "subledger.example.yaml shows every key")
  }
}

extension Interval {
  /// Reads `41h10m`: whole numbers, each with one of the units d, h, m, s.
  init?(units text: String) {
    var total: Int64 = 0
    var digits = ""
    for character in text {
      if character.isNumber {
        digits.append(character)
        continue
      }
      let seconds: [Character: Int64] = ["d": 86_400, "h": 3600, "m": 60, "s": 1]
      let most: Int64 = 1_000_000 * 86_400
      guard let unit = seconds[character], let count = Int64(digits), count <= most / unit else {
        return nil
      }
      total += count * unit
      // A text of any length has any number of parts.
      guard total <= most else { return nil }
      digits = ""
    }
    guard digits.isEmpty, !text.isEmpty else { return nil }
    self = .seconds(total)
  }
}

extension Amount {
  /// Reads a plain decimal of at most 10¹² with at most six decimals, such as `0.005`.
  init?(typed text: String) {
    // Nobody types a sign or an exponent on purpose.
    guard text.utf8.allSatisfy({ 48...57 ~= $0 || $0 == UInt8(ascii: ".") }) else { return nil }
    var text = text
    let parsed = text.withUTF8 { DecimalText.amount(UnsafeRawBufferPointer($0)) }
    guard case .amount(let amount, wasRounded: false) = parsed else { return nil }
    self = amount
  }
}
