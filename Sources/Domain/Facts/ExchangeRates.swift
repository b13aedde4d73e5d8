/// What charges paid in US dollars for a unit of their currency: an exact fraction.
public struct ExchangeRate: Sendable, Hashable, Comparable {
  /// Millionths of a US dollar, without a common divisor with `local`; above 0.
  public let usd: Int64
  /// Millionths of the currency; above 0.
  public let local: Int64

  /// The rate at which `revenue` was quoted; nil unless both amounts are there and not zero.
  public init?(of revenue: Revenue) {
    guard let usd = revenue.usd?.magnitude.micros, let local = revenue.local?.magnitude.micros,
      usd > 0, local > 0, revenue.currency != 0
    else { return nil }
    self.init(usd: usd, local: local)
  }

  /// The rate of a stored fraction; nil unless both parts are above 0.
  public init?(usd: Int64, local: Int64) {
    guard usd > 0, local > 0 else { return nil }
    let divisor = greatestCommonDivisor(usd, local)
    self.usd = usd / divisor
    self.local = local / divisor
  }

  /// By value.
  public static func < (left: ExchangeRate, right: ExchangeRate) -> Bool {
    Int128(left.usd) * Int128(right.local) < Int128(right.usd) * Int128(left.local)
  }
}

/// The charges of one currency on one UTC day.
public struct CurrencyDay: Codable, Sendable, Hashable {
  /// StringID of the ISO 4217 code.
  public var currency: StringID
  /// The UTC day of the charge.
  public var day: Day

  /// A currency on a UTC day.
  public init(currency: StringID, day: Day) {
    self.currency = currency
    self.day = day
  }

  /// The day on which, and the currency in which, an event's revenue was quoted; nil without one.
  public init?(_ event: Event) {
    guard let currency = event.revenue?.currency, currency != 0 else { return nil }
    self.currency = currency
    day = CivilCalendar.utc.day(of: event.time)
  }
}

/// How often each rate was paid, by currency and day.
///
/// It grows with days, currencies and prices, not with charges.
public struct ExchangeRates: Sendable, Equatable {
  /// How many charges were quoted at a rate.
  public private(set) var charges: [CurrencyDay: [ExchangeRate: Int64]] = [:]

  /// No charge yet.
  public init() {}

  /// The charges of some days.
  public init(_ charges: [CurrencyDay: [ExchangeRate: Int64]]) { self.charges = charges }

  /// Leaves out rates without charges.
  public mutating func removeNothings() {
    charges = charges.compactMapValues { rates in
      guard rates.contains(where: { $0.value == 0 }) else { return rates }
      let paid = rates.filter { $0.value != 0 }
      return paid.isEmpty ? nil : paid
    }
  }

  /// Adds what other charges paid.
  public mutating func add(_ other: ExchangeRates) {
    if charges.isEmpty {
      charges = other.charges
      return
    }
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
