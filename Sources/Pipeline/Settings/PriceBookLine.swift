import Domain

/// One line of a price book as text; an empty field matches everything.
struct PriceBookLine: Sendable, Equatable {
  /// The fields whose combination must be unique.
  struct Key: Sendable, Hashable {
    /// `unknown` means every store.
    var store: Store
    var product: ExactText
    /// ISO 3166-1 code.
    var country: String
    /// ISO 4217 code.
    var currency: String
    /// The offer to which the price applies; empty for the full price.
    var offer: ExactText
    /// The time from which the price is valid.
    var validFrom: Instant
  }

  /// The columns in the order of the documentation.
  enum Column: String, CaseIterable, Sendable {
    case store
    case product = "product_id"
    case country, currency
    case validFrom = "valid_from"
    case amount
    case amountUSD = "amount_usd"
    case rate = "proceeds_rate"
    case period, offer
  }

  var key: Key
  /// Price in the key's currency; nil when not listed.
  var local: Amount?
  /// Price in US dollars; nil when not listed.
  var usd: Amount?
  /// Percentage that remains after commission; nil when not listed.
  var rate: Amount?
  /// Length of the product's period; nil when not listed.
  var period: PeriodLength?
}

extension PriceColumns {
  /// Parses the fields of a line; a date is the start of that day in `calendar`.
  func read(_ fields: [String], calendar: CivilCalendar) throws(CSVProblem) -> PriceBookLine {
    guard fields.count == positions.count else {
      throw CSVProblem(
        column: min(fields.count, positions.count),
        reason: "the line has \(fields.count) fields instead of \(positions.count)")
    }
    func field(_ column: PriceBookLine.Column) -> String {
      positions[column].map { fields[$0] } ?? ""
    }
    let product = field(.product)
    guard let first = product.utf8.first, let last = product.utf8.last, first > 32, last > 32 else {
      throw problem(.product, "must name a product, without blanks around it")
    }
    guard let validFrom = calendar.instant(field(.validFrom)) else {
      throw problem(
        .validFrom, "must be a date such as 2026-11-20, or an RFC 3339 instant with its offset")
    }
    func value<Value>(
      _ column: PriceBookLine.Column, _ rule: @autoclosure () -> String,
      _ read: (String) -> Value?
    ) throws(CSVProblem) -> Value? {
      if field(column).isEmpty { return nil }
      if let value = read(field(column)) { return value }
      throw problem(column, "must be \(rule())")
    }
    func code(_ lengths: ClosedRange<Int>) -> (String) -> String? {
      { text in
        lengths.contains(text.utf8.count) && text.utf8.allSatisfy { 65...90 ~= $0 } ? text : nil
      }
    }
    let decimal = "a plain decimal of at least 0, with at most six decimals"
    let key = PriceBookLine.Key(
      store: try value(
        .store, "empty for any, or one of \(Store.allCases.map(\.name).joined(separator: ", "))",
        Store.init(name:)) ?? .unknown,
      product: ExactText(product),
      country: try value(.country, "empty for any, or a code such as DE", code(2...3)) ?? "",
      currency: try value(.currency, "empty for any, or a code such as EUR", code(3...3)) ?? "",
      offer: ExactText(field(.offer)), validFrom: validFrom)
    var local = try value(.amount, decimal, Amount.init(typed:))
    var usd = try value(.amountUSD, decimal, Amount.init(typed:))
    if key.currency == "USD" { (local, usd) = (local ?? usd, usd ?? local) }
    guard (usd ?? .zero) <= .lineMaxUSD else {
      throw problem(.amountUSD, "must be at most 1000000000 US dollars")
    }
    let rate = try value(.rate, "a percentage such as 70 or 12.5, not a share") { text in
      Amount(typed: text).flatMap { rate in
        (1_000_000...100_000_000).contains(rate.micros) || rate == .zero ? rate : nil
      }
    }
    let period = try value(
      .period, "an ISO 8601 period such as P1M, P1Y or P7D", PeriodLength.init(iso:))
    guard local != nil || usd != nil || period != nil else {
      throw problem(.amount, "must be set, or amount_usd or period")
    }
    return PriceBookLine(key: key, local: local, usd: usd, rate: rate, period: period)
  }
}
