import Subscriptions
import Domain

/// The median rate of a currency: the middle rate, or the mean of the two in the middle, as an
/// exact fraction.
struct MedianRate: Sendable, Equatable {
  private let lower: ExchangeRate
  private let upper: ExchangeRate

  /// The mean of two rates.
  init(of lower: ExchangeRate, _ upper: ExchangeRate) { (self.lower, self.upper) = (lower, upper) }

  /// The median of all charges, counted by their rates; nil for fewer than three of them.
  init?(of days: [[ExchangeRate: Int64]]) {
    var counts: [ExchangeRate: Int64] = [:]
    for day in days { counts.merge(day) { $0 + $1 } }
    let total = counts.values.reduce(0, +)
    guard total >= 3 else { return nil }
    var seen: Int64 = 0
    var lower: ExchangeRate?
    for (rate, count) in counts.sorted(by: { $0.key < $1.key }) {
      seen += count
      if lower == nil, seen * 2 >= total { lower = rate }
      guard let lower, seen * 2 > total else { continue }
      self.init(of: lower, rate)
      return
    }
    return nil
  }

  /// Millionths of a US dollar, and of the currency; both above 0.
  private var fraction: (usd: UInt128, local: UInt128) {
    // (a/b + c/d) ÷ 2 = (ad + cb) ÷ 2bd. Parts of a rate have 63 bits, so that both have 127.
    let (a, b) = (UInt128(lower.usd), UInt128(lower.local))
    let (c, d) = (UInt128(upper.usd), UInt128(upper.local))
    return (a * d + c * b, 2 * b * d)
  }

  /// Whether `rate` differs from the median by more than 5 % of it.
  func isFar(_ rate: ExchangeRate) -> Bool {
    let (usd, local) = fraction
    // p/q against m/n: 20 pn beside 21 qm and 19 qm. Each product has at most 196 bits.
    let ours = (20 * UInt128(rate.usd)).multipliedFullWidth(by: local)
    let above = (21 * UInt128(rate.local)).multipliedFullWidth(by: usd)
    let below = (19 * UInt128(rate.local)).multipliedFullWidth(by: usd)
    return (ours.high, ours.low) > (above.high, above.low)
      || (ours.high, ours.low) < (below.high, below.low)
  }

  /// What `amount`, above 0, of the currency is in US dollars, rounded half to even; nil when
  /// that does not fit.
  func usd(for amount: Amount) -> Amount? {
    let (usd, local) = fraction
    let exact = UInt128(amount.micros.magnitude).multipliedFullWidth(by: usd)
    guard exact.high < local else { return nil }
    let (quotient, remainder) = local.dividingFullWidth(exact)
    guard quotient < UInt128(Int64.max) else { return nil }
    let missing = local - remainder
    let isUp = remainder > missing || (remainder == missing && quotient % 2 == 1)
    return Amount(micros: Int64(quotient) + (isUp ? 1 : 0))
  }
}

extension ExchangeRates {
  /// The median rate of a currency on the UTC day of `time`, or on as many days before and after
  /// it, up to three, as have three charges; nil for fewer charges.
  func median(of currency: StringID, around time: Instant) -> MedianRate? {
    let day = CivilCalendar.utc.day(of: time).number
    for reach in Int32(0)...3 {
      let near = (day - reach...day + reach).compactMap {
        charges[CurrencyDay(currency: currency, day: Day(number: $0))]
      }
      if let median = MedianRate(of: near) { return median }
    }
    return nil
  }
}
