import Domain

/// An event with a wrong part, and the break that shows it.
struct Corruption {
  let event: Event
  let code: BreakCode

  /// Selects by `draw` one of the corruptions that `event` allows; nil when it allows none.
  init?(of event: Event, among events: [Event], _ limits: DamageLimits, draw: UInt64) {
    let possible = [
      Self.contradicted(event), Self.currency(event, among: events, limits.foreignCurrency),
      Self.rate(event), Self.revenue(event), Self.leaked(event),
      Self.reversed(event, among: events), Self.exchange(event, among: events, limits.rates),
    ].compactMap { $0 }
    guard !possible.isEmpty else { return nil }
    self = possible[Int(draw % UInt64(possible.count))]
  }

  private init(_ event: Event, _ code: BreakCode, _ change: (inout Event) -> Void) {
    var wrong = event
    change(&wrong)
    wrong.body &+= 1
    (self.event, self.code) = (wrong, code)
  }

  /// Creates an older version with another end; the version that counts does not change.
  private static func contradicted(_ event: Event) -> Corruption? {
    guard let created = event.created else { return nil }
    return Corruption(event, .conflict) {
      $0.created = created - .seconds(1)
      $0.periodEnd = (event.periodEnd ?? event.time) + .days(1)
    }
  }

  /// Creates a partial refund in a currency other than that of the charge.
  private static func currency(
    _ event: Event, among events: [Event], _ foreign: StringID
  ) -> Corruption? {
    guard event.kind.isRefund, event.transaction != 0, let part = event.revenue,
      events.contains(where: { charge in
        charge.transaction == event.transaction && charge.kind.chargeKind != nil
          && charge.time < event.time && part.isPart(of: charge.revenue)
      })
    else { return nil }
    return Corruption(event, .currencyMismatch) { $0.revenue?.currency = foreign }
  }

  /// Creates a price that does not match proceeds and rate.
  private static func rate(_ event: Event) -> Corruption? {
    guard event.kind.chargeKind != nil,
      let revenue = event.revenue, revenue.isProceed == true, let rate = revenue.rate,
      rate > .zero, let price = event.price?.usd, price > Amount(micros: 1_000_000),
      price < Amount(micros: 1_000_000_000)
    else { return nil }
    return Corruption(event, .rateMismatch) { $0.price?.usd = Amount(micros: price.micros * 2) }
  }

  /// Creates the same event in the sandbox, as a transaction of its own.
  private static func leaked(_ event: Event) -> Corruption? {
    guard event.sendsSingleEvents else { return nil }
    return Corruption(event, .envLeak) { $0.environment = .sandbox }
  }

  /// Creates a period that ends before it starts; not the newest, whose end would be in doubt, too.
  private static func reversed(_ event: Event, among events: [Event]) -> Corruption? {
    guard event.sendsSingleEvents, event.kind.chargeKind != nil, let start = event.periodStart,
      start <= event.time, let end = event.periodEnd, end > start,
      events.contains(where: {
        $0.lineage == event.lineage && $0.kind.chargeKind != nil && $0.time > end - .days(1)
      })
    else { return nil }
    return Corruption(event, .impossibleSequence) { $0.periodEnd = start - .days(1) }
  }

  /// Creates a charge with 50 % more dollars than others paid for the currency around that day.
  private static func exchange(
    _ event: Event, among events: [Event], _ rates: ExchangeRates
  ) -> Corruption? {
    guard event.kind.chargeKind != nil, let revenue = event.revenue, let usd = revenue.usd,
      usd > Amount(micros: 1_000_000), rates.around(event) >= 9,
      !events.contains(where: { $0.kind.isRefund && $0.transaction == event.transaction }),
      let dear = try? usd.scaled(by: 3, over: 2)
    else { return nil }
    return Corruption(event, .fxOutlier) {
      $0.revenue?.usd = dear
      $0.price?.usd = event.price?.usd.flatMap { try? $0.scaled(by: 3, over: 2) }
    }
  }

  /// Adds money to an event that books none.
  private static func revenue(_ event: Event) -> Corruption? {
    guard !event.kind.isProductChange, !event.kind.isRefund, event.kind.chargeKind == nil else {
      return nil
    }
    let amount = Amount(micros: 9_990_000)
    return Corruption(event, .unexpectedRevenue) {
      $0.revenue = Revenue(local: amount, usd: amount, isProceed: false)
    }
  }
}

extension Revenue {
  /// Whether it is less than `whole`, in the same currency.
  func isPart(of whole: Revenue?) -> Bool {
    guard let whole, currency != 0, currency == whole.currency, let usd, let paid = whole.usd,
      let local, let paidLocal = whole.local
    else { return false }
    return usd.magnitude < paid.magnitude && local.magnitude < paidLocal.magnitude
  }
}

extension ExchangeRates {
  /// Returns how many charges in the currency of `event` are quoted within three days of it.
  func around(_ event: Event) -> Int64 {
    guard var near = CurrencyDay(event) else { return 0 }
    let day = near.day.number
    return (day - 3...day + 3).reduce(0) { sum, number in
      near.day = Day(number: number)
      return sum + (charges[near]?.values.reduce(0, +) ?? 0)
    }
  }
}
