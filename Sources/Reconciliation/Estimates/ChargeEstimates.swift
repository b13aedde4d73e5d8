import Subscriptions
import Domain

/// Estimates the amount of a missing charge from received charges and listed transactions.
extension Reconciler {
  /// Gross amount of `count` charges of `product` like the one missing at `instant`, and its basis.
  ///
  /// It is the price of the nearest charge of the same class in the lineage, preferably the
  /// previous one, unless the charges of all users show a price change in between. Without such a
  /// charge it is the price in another event of the product, else what other users paid, else the
  /// listed price, and last the price of an offer. US dollars are converted at the rate of the day.
  ///
  /// - Parameters:
  ///   - code: for a renewal, a start that cost less than later renewals is not used.
  ///   - instant: nil when the date is unknown; the newest price is then used.
  ///   - isOffer: whether the snapshot shows the price of an offer.
  func estimate(
    _ lineage: LineageInput, product: String, of code: BreakCode, count: Int64 = 1,
    at instant: Instant? = nil, isOffer: Bool = false
  ) -> Worth {
    let paid = lineage.latest.charges.filter {
      $0.kind != .productChange && $0.price.usd != nil && lineage.text($0.product) == product
    }
    let offers = Set(paid.indices.filter { self.isOffer($0, among: paid, lineage) })
    var full = paid.indices.filter { !offers.contains($0) }.map { paid[$0] }
    if full.isEmpty, isOffer { full = paid }
    if code == .missedRenewal { full = withoutCheapStart(full) }
    let time = instant ?? full.last?.time ?? rules.fold.asOf
    let currency = lineage.latest.charges.last?.price.currency ?? 0
    let likely =
      fullPrice(at: time, full, lineage) ?? usualPrice(at: time, beside: paid, lineage)
      ?? (paid.isEmpty ? reportedPrice(of: product, at: time, lineage) : nil)
      ?? price(of: product, in: lineage.latest.store, lineage.latest.country, currency, at: time)
      ?? (isOffer ? nil : paid.last.map { LikelyPrice($0) })
    guard var price = likely else { return (nil, .none) }
    if isOffer {
      let known = offers.sorted().map { paid[$0] }
      guard let offer = offerPrice(price, known, lineage) else { return (nil, .none) }
      price.local = offer
    }
    return (price.gross(count, at: time, rules.rates), price.basis)
  }

  /// Gross amount of the charge `transaction`: the price in an event that names it, else that of a
  /// similar charge; at least the refunded amount, allowing for the exchange rates of two days.
  func estimate(
    of transaction: Int64, _ lineage: LineageInput, product: String, _ code: BreakCode,
    at instant: Instant?, isOffer: Bool = false
  ) -> Worth {
    let named = lineage.latest.prices.last {
      transaction != 0 && $0.transaction == transaction
        && (lineage.text($0.product) == product || $0.product == 0)
    }
    let usual =
      named.map {
        (LikelyPrice($0).gross(1, at: instant ?? $0.time, rules.rates), AmountBasis.provider)
      }
      ?? estimate(lineage, product: product, of: code, at: instant, isOffer: isOffer)
    guard let least = lineage.refundedAmount(of: transaction),
      usual.0.map({ $0.micros / 100 < least.micros / 105 }) ?? true
    else { return usual }
    return (least, .provider)
  }

  /// What a listed transaction cost, in US dollars at the rate of the day; nil when not sent, or
  /// without a rate.
  func price(of transaction: ListedTransaction) -> Amount? {
    guard let price = transaction.price, price > .zero else { return nil }
    let isUSD = transaction.currency == "USD"
    let listed = Price(
      local: price, usd: isUSD ? price : nil,
      currency: rules.strings.find(transaction.currency) ?? 0)
    return LikelyPrice(0, listed).gross(1, at: transaction.at ?? knownAt, rules.rates)
  }

  /// The price in an event other than a charge: the last before `time`, else the first after it.
  private func reportedPrice(
    of product: String, at time: Instant, _ lineage: LineageInput
  ) -> LikelyPrice? {
    let known = lineage.latest.prices.filter { lineage.text($0.product) == product }
    return (known.last { $0.time <= time } ?? known.first).map(LikelyPrice.init)
  }

  /// Gross amount of a charge of a subscription without events.
  func estimate(of about: BreakSubject, at time: Instant) -> Worth {
    let country = lineages.last { $0.latest.country != 0 }?.latest.country ?? 0
    let price = price(of: about.product, in: about.store, country, at: time)
    return (price?.gross(1, at: time, rules.rates), price?.basis ?? .none)
  }

  /// The price of a product without a price in the subscription: the median of what others paid, in
  /// the most common currency, else the listed price; nil without US dollars.
  ///
  /// Payments in the country come before those anywhere, and those of the month before those of any
  /// time. A country or currency of 0 means any.
  private func price(
    of product: String, in store: Store, _ country: StringID, _ currency: StringID = 0,
    at time: Instant
  ) -> LikelyPrice? {
    let words = rules.strings.words
    // A base plan that no event names costs what its product is listed at.
    let known = rules.strings.find(product)
    let key = known ?? product.withoutBasePlan.flatMap(rules.strings.find)
    guard let key, key != 0 else { return nil }
    func rank(_ currency: StringID) -> String {
      words.indices.contains(Int(currency)) ? words[Int(currency)] : ""
    }
    let sold = PricedProduct(product: key, store: store, currency: currency, country: country)
    let paid = known == nil ? [:] : rules.prices.medians(of: sold, around: time)
    let usual = paid.max {
      ($0.value.renewals, rank($0.key)) < ($1.value.renewals, rank($1.key))
    }.map {
      let paid = $0.value.price
      return LikelyPrice(
        key, Price(local: paid, usd: rank($0.key) == "USD" ? paid : nil, currency: $0.key))
    }
    let listed = listedPrice(of: sold, at: time)
    return [usual, listed].compactMap(\.self).first {
      $0.gross(1, at: time, rules.rates) != nil
    }
  }

  private func listedPrice(of sold: PricedProduct, at time: Instant) -> LikelyPrice? {
    rules.fold.prices.price(of: sold, at: time).map {
      LikelyPrice(sold.product, $0.amounts, .priceBook)
    }
  }

  private func fullPrice(
    at time: Instant, _ full: [Charge], _ lineage: LineageInput
  ) -> LikelyPrice? {
    let before = full.last { $0.time <= time }
    let after = full.first { $0.time > time }
    guard let nearest = before ?? after else { return nil }
    var price = LikelyPrice(nearest)
    guard let product = priced(nearest, lineage), let reported = nearest.price.local else {
      return price
    }
    // What the price book alone shows changes when the price book does.
    if nearest.basis == .priceBook { return listedPrice(of: product, at: time) ?? price }
    if before != nil, let after {
      guard priced(after, lineage) == product, let next = after.price.local, next != reported else {
        return price
      }
      let began = rules.prices.firstWeek(of: next, for: product)
      guard let began, began <= Week(of: time) else { return price }
      return LikelyPrice(after)
    }
    guard let usual = rules.prices.usual(product, at: time), usual != reported else { return price }
    // A different price counts only if it appeared, or disappeared, between the two charges.
    let (from, to) = before == nil ? (time, nearest.time) : (nearest.time, time)
    let began = rules.prices.firstWeek(of: before == nil ? reported : usual, for: product)
    if let began, began > Week(of: from), began <= Week(of: to) { price.local = usual }
    return price
  }

  /// The full price that others paid, if all charges received were offers; nil when unknown.
  private func usualPrice(
    at time: Instant, beside offers: [Charge], _ lineage: LineageInput
  ) -> LikelyPrice? {
    guard let offer = offers.last, let product = priced(offer, lineage),
      let usual = rules.prices.usual(product, at: time), let paid = offer.price.local, usual > paid
    else { return nil }
    var price = LikelyPrice(offer)
    price.local = usual
    return price
  }

  private func withoutCheapStart(_ full: [Charge]) -> [Charge] {
    guard let first = full.first, first.kind != .renewal,
      let next = full.dropFirst().first(where: { $0.kind == .renewal }),
      first.price.currency == next.price.currency, let price = first.price.local,
      let later = next.price.local, price < later
    else { return full }
    return Array(full.dropFirst())
  }

  /// The offer's price in the currency of `full`; nil when no similar offer is known.
  private func offerPrice(
    _ full: LikelyPrice, _ known: [Charge], _ lineage: LineageInput
  ) -> Amount? {
    guard let local = full.local else { return nil }
    if let product = priced(full.product, full.known.currency, lineage),
      let offer = rules.prices.offer(of: product, full: local)
    {
      return offer
    }
    return known.last {
      $0.price.currency == full.known.currency && ($0.price.local ?? local) < local
    }?.price.local
  }

  /// Whether a charge was paid at an offer price: according to the snapshot, else if the charges
  /// before and after it cost more; with only one such charge, or with two offers, if others had
  /// that offer.
  private func isOffer(_ index: Int, among paid: [Charge], _ lineage: LineageInput) -> Bool {
    let charge = paid[index]
    // A free charge may have no currency.
    if charge.price.usd == .zero { return paid.contains { $0.price.usd != .zero } }
    switch view.transaction(charge.transaction)?.kind {
    case .introStarted, .introRenewed: return true
    case .started, .renewed, .oneTime, .trialStarted: return false
    case .unknown, .free, nil: break
    }
    guard let price = charge.price.local, let product = priced(charge, lineage)
    else { return false }
    // Two offers can follow each other.
    let before = paid[..<index].lastIndex { $0.price.local != price }
    let after = paid[index...].firstIndex { $0.price.local != price }
    let near = [before, after].compactMap(\.self)
    let prices = near.map { paid[$0] }.filter { priced($0, lineage) == product }
      .compactMap(\.price.local)
    guard let full = prices.first, prices.allSatisfy({ $0 > price }) else { return false }
    if prices.count == 2, near == [index - 1, index + 1] { return true }
    // Within the rounding of prices in that currency.
    return rules.prices.offer(of: product, full: full).map { usual in
      (try? usual.subtracting(price).magnitude.scaled(by: 50, over: 1)).map { $0 <= price } ?? false
    } ?? false
  }

  private func priced(_ charge: Charge, _ lineage: LineageInput) -> PricedProduct? {
    priced(charge.product, charge.price.currency, lineage)
  }

  private func priced(
    _ product: StringID, _ currency: StringID, _ lineage: LineageInput
  ) -> PricedProduct? {
    guard currency != 0 else { return nil }
    return PricedProduct(
      product: product, store: lineage.latest.store, currency: currency,
      country: lineage.latest.country)
  }
}

/// What refunds show about a missing charge.
extension LineageInput {
  /// The refunded product; nil when no refund shows it.
  func refundedProduct(of transaction: Int64) -> String? {
    refunds(ofUnseen: transaction).first { $0.product != 0 }.map { text($0.product) }
  }

  /// The total refunded, in US dollars; nil when no refund shows it.
  func refundedAmount(of transaction: Int64) -> Amount? {
    let parts = refunds(ofUnseen: transaction).compactMap(\.grossUSD)
    guard !parts.isEmpty, let all = try? parts.reduce(Amount.zero, { try $0.adding($1) }),
      all <= .lineMaxUSD
    else { return nil }
    return all
  }

  /// The refunds of a charge that never arrived.
  func refunds(ofUnseen transaction: Int64) -> [Refund] {
    latest.refunds.filter {
      transaction != 0 && $0.transaction == transaction && !$0.chargeIsKnown
    }
  }
}

/// The probable price of a missing charge.
private struct LikelyPrice {
  let product: StringID
  /// The price that was paid, reported or listed.
  let known: Price
  let basis: AmountBasis
  /// The price to use, in the same currency.
  var local: Amount?

  init(_ product: StringID, _ known: Price, _ basis: AmountBasis = .provider) {
    (self.product, self.known, self.basis, local) = (product, known, basis, known.local)
  }

  init(_ charge: Charge) { self.init(charge.product, charge.price, charge.basis) }

  init(_ reported: ReportedPrice) { self.init(reported.product, reported.price) }

  func gross(_ count: Int64, at time: Instant, _ rates: ExchangeRates) -> Amount? {
    perCharge(at: time, rates)?.times(count, max: .lineMaxUSD)
  }

  /// The price at the rate of the day or, if unknown, at the rate of the known price.
  private func perCharge(at time: Instant, _ rates: ExchangeRates) -> Amount? {
    if basis == .provider, known.currency != 0, let local, local > .zero,
      let dollars = rates.median(of: known.currency, around: time)?.usd(for: local)
    {
      return dollars
    }
    guard let local, let paid = known.local, local != paid, paid > .zero else { return known.usd }
    return try? known.usd?.scaled(by: local.micros, over: paid.micros)
  }
}
