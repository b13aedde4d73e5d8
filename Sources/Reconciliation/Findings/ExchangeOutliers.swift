public import Subscriptions
public import Domain

/// Charges whose dollars are off what others paid for the same currency around the same day.
///
/// Rates are compared as exact fractions. The first step needs the rates of all charges and keeps
/// the outliers; the second finds their charges, lineage by lineage.
public struct ExchangeOutliers: Sendable, Equatable {
  /// The median of each day on which some rate is off.
  let medians: [CurrencyDay: MedianRate]

  /// Finds the days on which some rate is more than 5 % from the median of ± 3 days.
  ///
  /// Of fewer than three charges it is unknown which is off.
  public init(_ rates: ExchangeRates) {
    var days: [StringID: [PaidDay]] = [:]
    for (key, paid) in rates.charges {
      guard let range = RateRange(paid.keys) else { continue }
      days[key.currency, default: []].append(PaidDay(key: key, range: range))
    }
    var found: [CurrencyDay: MedianRate] = [:]
    for ordered in days.values.map({ $0.sorted { $0.number < $1.number } }) {
      forEachWindow(of: ordered) { day, near, range in
        // Most days need no median: if all rates are near each other, they are near the median.
        guard range.isWide,
          let median = MedianRate(of: near.compactMap { rates.charges[$0.key] })
        else { return }
        let isOff = rates.charges[day.key]?.keys.contains { median.isFar($0) } ?? false
        if isOff { found[day.key] = median }
      }
    }
    medians = found
  }

  /// Whether some rate can be an outlier, given only the lowest and highest rates of days.
  ///
  /// A day can appear several times, for other states of its charges.
  public static func mayBeAny(among spreads: [RateSpread]) -> Bool {
    var days: [StringID: [PaidDay]] = [:]
    for spread in spreads { days[spread.key.currency, default: []].append(PaidDay(spread)) }
    return days.values.contains { days in
      var hasFound = false
      forEachWindow(of: days.sorted { $0.number < $1.number }) { _, _, range in
        hasFound = hasFound || range.isWide
      }
      return hasFound
    }
  }

  /// Whether no charge is off, so that the second step can be left out.
  public var isEmpty: Bool { medians.isEmpty }

  /// Whether `event` may be a charge that is off; only its lineage shows whether it is one.
  public func mayInclude(_ event: Event) -> Bool { median(of: event) != nil }

  /// The breaks of one lineage's charges, sorted by id.
  ///
  /// - Parameters:
  ///   - lineage: the lineage, as known at as-of.
  ///   - events: its events; only charges are used.
  ///   - rules: decides how much a difference matters.
  public func breaks(
    in lineage: LineageInput, _ events: [Event], rules: ReconciliationSettings
  ) -> [Break] {
    let charged = Set(lineage.latest.charges.map { ChargeMoment($0.transaction, $0.time) })
    let findings = events.compactMap { event -> FoldFinding? in
      guard charged.contains(ChargeMoment(event.transaction, event.time)),
        let median = median(of: event), let revenue = event.revenue
      else { return nil }
      return finding(event, revenue, median)
    }
    return Reconciliation.breaks(from: findings, lineage: lineage, rules: rules)
  }

  private func finding(
    _ event: Event, _ revenue: Revenue, _ median: MedianRate
  ) -> FoldFinding? {
    guard let usd = revenue.usd?.magnitude, let local = revenue.local?.magnitude,
      let usual = median.usd(for: local),
      let difference = try? usd.subtracting(usual)
    else { return nil }
    return FoldFinding(
      .fxOutlier, event, difference: difference.magnitude <= .lineMaxUSD ? difference : nil,
      "\(event.kind.name) of \(event.time.text): \(local.text()) local is \(usd.text()) USD; at "
        + "the median of \(daysAround) days before and after it would be \(usual.text()) USD")
  }

  /// The median that the event's rate is far from.
  private func median(of event: Event) -> MedianRate? {
    guard let key = CurrencyDay(event), let median = medians[key],
      let rate = event.revenue.flatMap(ExchangeRate.init(of:)), median.isFar(rate)
    else { return nil }
    // A dollar amount is rounded to a cent, which is much of a small one.
    guard let revenue = event.revenue, let local = revenue.local?.magnitude,
      let usual = median.usd(for: local),
      let off = try? (revenue.usd ?? .zero).magnitude.subtracting(usual).magnitude
    else { return nil }
    return off > Amount(micros: 10_000) ? median : nil
  }
}

/// What makes an event one of the state's charges.
private struct ChargeMoment: Hashable {
  let transaction: Int64
  let time: Instant

  init(_ transaction: Int64, _ time: Instant) {
    self.transaction = transaction
    self.time = time
  }
}

/// The lowest and the highest rate that was paid for a currency on one day.
public struct RateSpread: Sendable {
  let key: CurrencyDay
  let lowest: ExchangeRate
  let highest: ExchangeRate

  /// The rates of a day, from `lowest` to `highest`.
  public init(_ key: CurrencyDay, from lowest: ExchangeRate, to highest: ExchangeRate) {
    (self.key, self.lowest, self.highest) = (key, lowest, highest)
  }
}

/// Calls `body` at each of one currency's days, which come in their order, with the days around it,
/// itself among them, and the lowest and the highest of all their rates.
private func forEachWindow(
  of ordered: [PaidDay], _ body: (PaidDay, ArraySlice<PaidDay>, RateRange) -> Void
) {
  var near = 0..<0
  for day in ordered {
    while ordered[near.lowerBound].number < day.number - daysAround {
      near = near.lowerBound + 1..<near.upperBound
    }
    while near.upperBound < ordered.count,
      ordered[near.upperBound].number <= day.number + daysAround
    {
      near = near.lowerBound..<near.upperBound + 1
    }
    var range = day.range
    for other in near { range.widen(to: ordered[other].range) }
    body(day, ordered[near], range)
  }
}

/// The rates of a currency on one day.
private struct PaidDay {
  let key: CurrencyDay
  let range: RateRange

  init(key: CurrencyDay, range: RateRange) { (self.key, self.range) = (key, range) }

  init(_ spread: RateSpread) {
    key = spread.key
    range = RateRange(lowest: spread.lowest, highest: spread.highest)
  }

  var number: Int32 { key.day.number }
}

/// The lowest and the highest of some rates.
private struct RateRange {
  var lowest: ExchangeRate
  var highest: ExchangeRate

  init(lowest: ExchangeRate, highest: ExchangeRate) {
    (self.lowest, self.highest) = (lowest, highest)
  }

  init?(_ rates: some Collection<ExchangeRate>) {
    guard let lowest = rates.min(), let highest = rates.max() else { return nil }
    self.lowest = lowest
    self.highest = highest
  }

  mutating func widen(to other: RateRange) {
    if other.lowest < lowest { lowest = other.lowest }
    if highest < other.highest { highest = other.highest }
  }

  /// Whether some rate can be far from another: a median is no lower than the lowest.
  var isWide: Bool { MedianRate(of: lowest, lowest).isFar(highest) }
}

private let daysAround: Int32 = 3
