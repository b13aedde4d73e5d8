/// The US dollars that charges paid per unit of their currency: an exact fraction.
public struct ExchangeRate: Sendable, Hashable, Comparable {
  /// Millionths of a US dollar, above 0; has no common divisor with `local`.
  public let usd: Int64
  /// Millionths of the currency; above 0.
  public let local: Int64

  /// The rate of two amounts; nil unless both are above 0.
  public init?(usd: Int64, local: Int64) {
    guard usd > 0, local > 0 else { return nil }
    let divisor = greatestCommonDivisor(usd, local)
    self.usd = usd / divisor
    self.local = local / divisor
  }

  /// Orders by value.
  public static func < (left: ExchangeRate, right: ExchangeRate) -> Bool {
    Int128(left.usd) * Int128(right.local) < Int128(right.usd) * Int128(left.local)
  }
}

/// The charges of one currency on one UTC day.
public struct CurrencyDay: Codable, Sendable, Hashable {
  /// Symbol of the ISO 4217 code.
  public var currency: StringID
  /// The UTC day of the charge.
  public var day: Day

  /// A currency on a UTC day.
  public init(currency: StringID, day: Day) {
    self.currency = currency
    self.day = day
  }

  /// The currency and day of an event's revenue; nil without revenue.
  public init?(_ event: Event) {
    guard let currency = event.revenue?.currency, currency != 0 else { return nil }
    self.currency = currency
    day = CivilCalendar.utc.day(of: event.time)
  }
}

/// How many charges were paid at each rate, by currency and day.
///
/// The size grows with days, currencies and prices, not with charges.
public struct ExchangeRates: Sendable, Equatable {
  /// The number of charges at each rate.
  public private(set) var charges: [CurrencyDay: [ExchangeRate: Int64]]

  /// The charges of some days; none by default.
  public init(_ charges: [CurrencyDay: [ExchangeRate: Int64]] = [:]) { self.charges = charges }

  /// Removes rates without charges.
  public mutating func removeZeros() {
    charges = charges.compactMapValues { rates in
      guard rates.contains(where: { $0.value == 0 }) else { return rates }
      let paid = rates.filter { $0.value != 0 }
      return paid.isEmpty ? nil : paid
    }
  }

  /// Adds other charges.
  public mutating func add(_ other: ExchangeRates) {
    for (key, rates) in other.charges {
      charges[key, default: [:]].merge(rates) { $0 + $1 }
    }
  }
}

private func greatestCommonDivisor(_ left: Int64, _ right: Int64) -> Int64 {
  var (left, right) = (left, right)
  while right != 0 { (left, right) = (right, left % right) }
  return left
}
