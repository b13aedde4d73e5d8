internal import Subscriptions
public import Domain

/// The median rate of a currency, an exact fraction: the middle rate, or the mean of two.
struct MedianRate: Sendable, Equatable {
  private let lower: ExchangeRate
  private let upper: ExchangeRate

  init(of lower: ExchangeRate, _ upper: ExchangeRate) { (self.lower, self.upper) = (lower, upper) }

  /// The median of all charges, weighted by their counts; nil for fewer than three charges.
  init?(of days: [[ExchangeRate: Int64]]) {
    let counts: [ExchangeRate: Int64] = days.reduce(into: [:]) { $0.merge($1) { $0 + $1 } }
    guard counts.values.reduce(0, +) >= 3, let medians = counts.medians else { return nil }
    self.init(of: medians.lower, medians.upper)
  }

  /// Millionths of a US dollar and of the currency; both above 0.
  private var fraction: (usd: UInt128, local: UInt128) {
    // (a/b + c/d) ÷ 2 = (ad + cb) ÷ 2bd. The parts of a rate have 63 bits, both results 127.
    let (a, b) = (UInt128(lower.usd), UInt128(lower.local))
    let (c, d) = (UInt128(upper.usd), UInt128(upper.local))
    return (a * d + c * b, 2 * b * d)
  }

  /// Whether `rate` differs from the median by more than 5 % of it.
  func isFar(_ rate: ExchangeRate) -> Bool {
    let (usd, local) = fraction
    // p/q against m/n: compares 20 pn with 21 qm and 19 qm. Each product has at most 196 bits.
    let ours = (20 * UInt128(rate.usd)).multipliedFullWidth(by: local)
    let above = (21 * UInt128(rate.local)).multipliedFullWidth(by: usd)
    let below = (19 * UInt128(rate.local)).multipliedFullWidth(by: usd)
    return (ours.high, ours.low) > (above.high, above.low)
      || (ours.high, ours.low) < (below.high, below.low)
  }

  /// The value of `amount`, above 0, in US dollars, rounded half to even; nil when it does not fit.
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
  /// The median rate of a currency on the UTC day of `time`, or of as many days before and after
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

/// Charges whose US dollars are far from what others paid for the same currency around that day.
///
/// Rates are compared as exact fractions. The first step needs the rates of all charges and keeps
/// the outliers; the second step finds their charges, lineage by lineage.
public struct ExchangeOutliers: Sendable, Equatable, ChargeOutliers {
  /// The median of each day on which some rate is an outlier.
  let medians: [CurrencyDay: MedianRate]

  /// Finds the days with a rate more than 5 % from the median of ± 3 days.
  ///
  /// With fewer than three charges, it is unknown which one is the outlier.
  public init(_ rates: ExchangeRates) {
    var found: [CurrencyDay: MedianRate] = [:]
    for days in Dictionary(grouping: rates.charges, by: \.key.currency).values {
      let days = days.sorted { $0.key.day < $1.key.day }
      let extremes = days.map { ($0.value.keys.min(), $0.value.keys.max()) }
      var (first, end) = (0, 0)
      for (key, paid) in days {
        while days[first].key.day.number < key.day.number - 3 { first += 1 }
        while end < days.count, days[end].key.day.number <= key.day.number + 3 { end += 1 }
        // Most days need no median: rates that are close to each other are close to it.
        guard let lowest = extremes[first..<end].compactMap(\.0).min(),
          let highest = extremes[first..<end].compactMap(\.1).max(),
          MedianRate(of: lowest, lowest).isFar(highest),
          let median = MedianRate(of: days[first..<end].map(\.value)),
          paid.keys.contains(where: median.isFar)
        else { continue }
        found[key] = median
      }
    }
    medians = found
  }

  /// Whether there are no outliers, so that the second step can be skipped.
  public var isEmpty: Bool { medians.isEmpty }

  /// Whether `event` may be an outlier; only its lineage shows whether it is.
  public func mayInclude(_ event: Event) -> Bool { quote(farOff: event) != nil }

  /// The breaks of charges among the `events` of one lineage, sorted by id.
  public func breaks(
    in lineage: LineageInput, _ events: [Event], rules: ReconciliationSettings
  ) -> [Break] {
    let charged = Dictionary(grouping: lineage.latest.charges, by: \.transaction)
      .mapValues { Set($0.map(\.time)) }
    let findings = events.compactMap { event -> FoldFinding? in
      guard charged[event.transaction]?.contains(event.time) == true,
        let (usd, local, usual, difference) = quote(farOff: event)
      else { return nil }
      return FoldFinding(
        .fxOutlier, event, difference: difference.magnitude <= .lineMaxUSD ? difference : nil,
        "\(event.kindAndTime): \(local.text()) local is \(usd.text()) USD; at the median of 3 "
          + "days before and after it would be \(usual.text()) USD")
    }
    return Reconciliation.breaks(from: findings, lineage: lineage, rules: rules)
  }

  /// The amounts of an event whose rate is far from the median, with its value at the median.
  private func quote(
    farOff event: Event
  ) -> (usd: Amount, local: Amount, usual: Amount, difference: Amount)? {
    // A dollar amount is rounded to a cent, which is a large part of a small amount.
    guard let key = CurrencyDay(event), let median = medians[key], let revenue = event.revenue,
      let usd = revenue.usd?.magnitude, let local = revenue.local?.magnitude,
      let rate = ExchangeRate(usd: usd.micros, local: local.micros), median.isFar(rate),
      let usual = median.usd(for: local), let difference = try? usd.subtracting(usual),
      difference.magnitude > Amount(micros: 10_000)
    else { return nil }
    return (usd, local, usual, difference)
  }
}
