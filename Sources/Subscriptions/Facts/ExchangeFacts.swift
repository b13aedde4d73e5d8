public import Domain

extension ExchangeRates {
  /// The amounts of a charge that imply an exchange rate of its currency.
  ///
  /// The fold counts charges by quote, with one look-up each. Most charges of a day have the same
  /// rate, so few fractions need reducing.
  public struct Quote: Codable, Sendable, Hashable {
    let day: CurrencyDay
    /// Millionths of a US dollar; above 0.
    let usd: Int64
    /// Millionths of the currency; above 0.
    let local: Int64

    /// The quote of `event`; nil without both amounts.
    init?(_ event: Event) {
      guard let revenue = event.revenue, let usd = revenue.usd?.magnitude.micros,
        let local = revenue.local?.magnitude.micros, usd > 0, local > 0,
        let day = CurrencyDay(event)
      else { return nil }
      self.day = day
      self.usd = usd
      self.local = local
    }
  }

  /// The rates of these quotes, with the number of charges at each.
  public init(_ quotes: [Quote: Int64]) {
    var charges: [CurrencyDay: [ExchangeRate: Int64]] = [:]
    for (quote, count) in quotes {
      guard let rate = ExchangeRate(usd: quote.usd, local: quote.local) else { continue }
      charges[quote.day, default: [:]][rate, default: 0] += count
    }
    self.init(charges)
  }
}

extension SubscriptionHistory {
  /// Counts the rate of every charge in real money; subtracts it with a `count` of −1.
  public func book(_ count: Int64 = 1, into quotes: inout [ExchangeRates.Quote: Int64]) {
    guard exclusion == nil else { return }
    for booking in bookings where !booking.isRefund {
      guard let quote = ExchangeRates.Quote(events[booking.event]) else { continue }
      quotes[quote, default: 0] += count
    }
  }
}
