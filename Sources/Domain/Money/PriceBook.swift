/// Prices from the operator, for charges whose provider sends no money.
public struct PriceBook: Sendable, Equatable {
  /// One line of the price book.
  public struct Price: Sendable, Equatable {
    /// ISO 3166-1 code of its country; 0 for every country.
    public var country: StringID
    /// The offer it applies to; 0 for the full price.
    public var offer: StringID
    /// The first moment at which it applies.
    public var validFrom: Instant
    /// The price; its currency is 0 when the line has no local amount.
    public var amounts: Domain.Price
    /// Share that remains after commission, in percent; nil when unknown.
    public var rate: Amount?
    /// The product's period; nil when unknown.
    public var period: PeriodLength?

    /// A line of a price book.
    public init(
      country: StringID = 0, currency: StringID = 0, offer: StringID = 0, validFrom: Instant,
      local: Amount? = nil, usd: Amount? = nil, rate: Amount? = nil, period: PeriodLength? = nil
    ) {
      self.country = country
      self.offer = offer
      self.validFrom = validFrom
      amounts = Domain.Price(local: local, usd: usd, currency: currency)
      self.rate = rate
      self.period = period
    }
  }

  private struct Product: Hashable {
    var store: Store
    var product: StringID
    /// Whether the price applies to every base plan of the product.
    var isForEveryPlan: Bool
  }

  private var prices: [Product: [Price]] = [:]

  /// A book without prices.
  public init() {}

  /// Adds a price of a product; the store `unknown` means every store.
  ///
  /// If two prices fit a charge equally well, the one added first counts. A price for every base
  /// plan applies to a product with base plan that has no price of its own.
  public mutating func add(
    _ price: Price, store: Store, product: StringID, isForEveryPlan: Bool = false
  ) {
    let product = Product(store: store, product: product, isForEveryPlan: isForEveryPlan)
    prices[product, default: []].append(price)
  }

  /// The price of `sold` at `time`.
  ///
  /// The store's own lines come before lines for every store. Among them, a line for the country
  /// comes before one for every country, then one for the currency before one for every currency,
  /// then the line that began last. A charge without a currency fits every currency. A charge at an
  /// offer fits only that offer's price: the full price was not paid.
  public func price(of sold: PricedProduct, offer: StringID = 0, at time: Instant) -> Price? {
    let (country, currency) = (sold.country, sold.currency)
    for listed in lists(of: sold.product, in: sold.store) {
      let valid = listed.filter {
        $0.offer == offer && $0.validFrom <= time && ($0.country == country || $0.country == 0)
          && ($0.amounts.local != nil || $0.amounts.usd != nil)
          && (currency == 0 || $0.amounts.currency == currency || $0.amounts.currency == 0)
      }
      func fit(_ price: Price) -> (Int, Int, Int64) {
        (
          country != 0 && price.country == country ? 1 : 0,
          currency != 0 && price.amounts.currency == currency ? 1 : 0, price.validFrom.milliseconds
        )
      }
      if let best = valid.max(by: { fit($0) < fit($1) }) { return best }
    }
    return nil
  }

  /// The period of `product` at `offer` and `time`, from the latest line that has a period.
  public func period(
    of product: StringID, in store: Store, offer: StringID = 0, at time: Instant
  ) -> PeriodLength? {
    for listed in lists(of: product, in: store) {
      let withPeriod = listed.filter {
        $0.period != nil && $0.offer == offer && $0.validFrom <= time
      }
      if let best = withPeriod.max(by: { $0.validFrom < $1.validFrom }) { return best.period }
    }
    return nil
  }

  /// The store's own lines, then those for every store; lines for the product as named come first.
  private func lists(of product: StringID, in store: Store) -> [[Price]] {
    let stores = store == .unknown ? [store] : [store, .unknown]
    return [false, true].flatMap { isForEveryPlan in
      stores.compactMap {
        prices[Product(store: $0, product: product, isForEveryPlan: isForEveryPlan)]
      }
    }
  }
}

/// A product's period, in the form `P1M`, `P1Y` or `P7D`.
public enum PeriodLength: Sendable, Hashable {
  /// A number of days of 24 hours.
  case days(Int)
  /// A number of calendar months.
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

  /// The mean length; a month has 30.4375 days, as for the contract's MRR.
  public var mean: Interval {
    switch self {
    case .days(let count): .days(Int64(count))
    case .months(let count): .minutes(Int64(count) * 43_830)
    }
  }

  /// The start of a period of this length that ends at `end`.
  public func start(before end: Instant) -> Instant { self.end(from: end, times: -1) }

  /// The end of one or several consecutive periods of this length from `start`, or their start
  /// for a negative number; months are counted in UTC.
  public func end(from start: Instant, times: Int = 1) -> Instant {
    switch self {
    case .days(let count): return start + .days(Int64(times * count))
    case .months(let count):
      let day = CivilCalendar.utc.day(of: start)
      let date = day.date
      let target = Month(number: day.month.number + Int32(times * count))
      let lastDay = Int(target.next.firstDay.number - target.firstDay.number)
      let number = target.firstDay.number + Int32(min(date.day, lastDay) - 1)
      return start + .days(Int64(number - day.number))
    }
  }
}
