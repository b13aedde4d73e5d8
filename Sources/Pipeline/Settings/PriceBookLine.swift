import Domain

/// One line of a price book as text; an empty field matches all.
struct PriceBookLine: Sendable, Equatable {
  /// What two lines must not share.
  struct Key: Sendable, Hashable {
    /// `unknown` means every store.
    var store: Store
    var product: String
    /// ISO 3166-1 code.
    var country: String
    /// ISO 4217 code.
    var currency: String
    /// The offer that the price is for; empty for the full price.
    var offer: String
    /// The first moment at which the price holds.
    var validFrom: Instant

    static func == (left: Key, right: Key) -> Bool {
      left.product.isExactly(right.product) && left.store == right.store
        && left.country == right.country && left.currency == right.currency
        && left.offer.isExactly(right.offer)
        && left.validFrom == right.validFrom
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(store)
      hasher.combine(ExactText(product))
      hasher.combine(validFrom)
    }
  }

  enum Column: String, CaseIterable, Sendable {
    case store, country, currency, amount, period
    case product = "product_id"
    case validFrom = "valid_from"
    case amountUSD = "amount_usd"
    case rate = "proceeds_rate"
    case offer
  }

  struct Problem: Error, Sendable {
    var column: Column
    var reason: String
  }

  var key: Key
  /// In the key's currency; nil when not listed.
  var local: Amount?
  /// In US dollars; nil when not listed.
  var usd: Amount?
  /// Percent that stays after commission; nil when not listed.
  var rate: Amount?
  /// How long the product's period is; nil when not listed.
  var period: PeriodLength?

  /// Reads the fields of a line; a date is the start of that day in `calendar`.
  init(_ field: (Column) -> String, calendar: CivilCalendar) throws(Problem) {
    let product = field(.product)
    guard let first = product.utf8.first, let last = product.utf8.last, first > 32, last > 32 else {
      throw Problem(column: .product, reason: "must name a product, without blanks around it")
    }
    guard let validFrom = calendar.instant(field(.validFrom)) else {
      throw Problem(
        column: .validFrom,
        reason: "must be a date such as 2026-11-20, or an RFC 3339 instant with its offset")
    }
    key = Key(
      store: try Self.store(field(.store)), product: product,
      country: try Self.code(field(.country), .country, 2...3),
      currency: try Self.code(field(.currency), .currency, 3...3), offer: field(.offer),
      validFrom: validFrom)
    local = try Self.amount(field(.amount), .amount)
    usd = try Self.amount(field(.amountUSD), .amountUSD)
    if key.currency == "USD" { (local, usd) = (local ?? usd, usd ?? local) }
    guard (usd ?? .zero) <= .lineMaxUSD else {
      throw Problem(column: .amountUSD, reason: "must be at most 1000000000 US dollars")
    }
    rate = try Self.rate(field(.rate))
    period = try Self.period(field(.period))
    guard local != nil || usd != nil || period != nil else {
      throw Problem(column: .amount, reason: "must be set, or amount_usd or period")
    }
  }

  private static func store(_ text: String) throws(Problem) -> Store {
    if text.isEmpty { return .unknown }
    guard let store = Store.allCases.first(where: { $0.name == text }) else {
      let known = Store.allCases.map(\.name).joined(separator: ", ")
      throw Problem(column: .store, reason: "must be empty for any, or one of \(known)")
    }
    return store
  }

  private static func code(
    _ text: String, _ column: Column, _ lengths: ClosedRange<Int>
  ) throws(Problem) -> String {
    if text.isEmpty { return "" }
    guard lengths.contains(text.utf8.count), text.utf8.allSatisfy({ 65...90 ~= $0 }) else {
      let example = column == .country ? "DE" : "EUR"
      throw Problem(
        column: column, reason: "must be empty for any, or a code such as \(example)")
    }
    return text
  }

  private static func amount(_ text: String, _ column: Column) throws(Problem) -> Amount? {
    if text.isEmpty { return nil }
    guard let amount = Amount(typed: text) else {
      throw Problem(
        column: column,
        reason: "must be a plain decimal of at least 0, with at most six decimals")
    }
    return amount
  }

  private static func rate(_ text: String) throws(Problem) -> Amount? {
    if text.isEmpty { return nil }
    let one = Amount(micros: 1_000_000)
    guard let rate = Amount(typed: text), rate == .zero || rate >= one,
      rate <= Amount(micros: 100_000_000)
    else {
      throw Problem(
        column: .rate, reason: "must be a percentage such as 70 or 12.5, not a share")
    }
    return rate
  }

  private static func period(_ text: String) throws(Problem) -> PeriodLength? {
    if text.isEmpty { return nil }
    guard let period = PeriodLength(iso: text) else {
      throw Problem(
        column: .period, reason: "must be an ISO 8601 period such as P1M, P1Y or P7D")
    }
    return period
  }
}
