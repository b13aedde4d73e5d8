/// A product's period, as a person writes it: `P1M`, `P1Y`, `P7D`.
public enum PeriodLength: Sendable, Hashable {
  /// That many days of 24 hours.
  case days(Int)
  /// That many calendar months.
  case months(Int)

  /// Reads an ISO 8601 duration of one unit: days, weeks, months or years.
  public init?(iso text: String) {
    let digits = text.dropFirst().dropLast()
    guard text.first == "P", let unit = text.last, digits.allSatisfy(\.isWholeNumber),
      let count = Int(digits), count > 0, count <= 3660
    else { return nil }
    switch unit {
    case "D": self = .days(count)
    case "W": self = .days(count * 7)
    case "M": self = .months(count)
    case "Y": self = .months(count * 12)
    default: return nil
    }
  }
}
