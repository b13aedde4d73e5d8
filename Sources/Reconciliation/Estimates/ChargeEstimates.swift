import Subscriptions
import Domain

/// The estimated amount of a missing charge, from received charges and listed transactions.
extension Reconciler {
  /// Gross of `count` charges of `product` like the one missing at `instant`, with its basis.
  ///
  /// It is the price of the nearest charge of the same class in the lineage, preferably the one
  /// before, unless all users' charges show a price change in between.
  ///
  /// - Parameters:
  ///   - code: a start that cost less than later renewals is not used for a renewal.
  ///   - instant: nil when the date is unknown; then the newest one counts.
  ///   - isOffer: whether the snapshot shows the price of an offer.
  func estimate(
    _ lineage: LineageInput, product: String, of code: BreakCode? = nil, count: Int64 = 1,
    at instant: Instant? = nil, isOffer: Bool = false
  ) -> (amount: Amount?, basis: AmountBasis) {
    let paid = lineage.latest.charges.filter {
      $0.kind != .productChange && $0.grossUSD != nil && lineage.text($0.product) == product
    }
    let offers = Set(paid.indices.filter { self.isOffer($0, among: paid, lineage) })
    var full = paid.indices.filter { !offers.contains($0) }.map { paid[$0] }
    if full.isEmpty, isOffer { full = paid }
    if code == .missedRenewal { full = withoutCheapStart(full) }
    let time = instant ?? full.last?.time ?? rules.fold.asOf
    let likely = fullPrice(at: time, full, lineage) ?? usualPrice(at: time, beside: paid, lineage)
    guard var price = likely else { return (nil, .none) }
    if isOffer {
      let known = offers.sorted().map { paid[$0] }
      guard let offer = offerPrice(price, known, lineage) else { return (nil, .none) }
      price.local = offer
    }
    return (price.gross(count), price.like.basis)
  }

  /// Gross of the charge `transaction`, which cost no less than was given back of it.
  func estimate(
    of transaction: Int64, _ lineage: LineageInput, product: String, _ code: BreakCode,
    at instant: Instant?, isOffer: Bool = false
  ) -> (amount: Amount?, basis: AmountBasis) {
    let usual = estimate(lineage, product: product, of: code, at: instant, isOffer: isOffer)
    guard let least = lineage.amountGivenBack(of: transaction),
      usual.amount.map({ $0 < least }) ?? true
    else { return usual }
    return (least, .provider)
  }

  private func fullPrice(
    at time: Instant, _ full: [Charge], _ lineage: LineageInput
  ) -> LikelyPrice? {
    let before = full.last { $0.time <= time }
    let after = full.first { $0.time > time }
    guard let nearest = before ?? after else { return nil }
    var price = LikelyPrice(like: nearest, local: nearest.grossLocal)
    guard let product = priced(nearest, lineage), let reported = nearest.grossLocal else {
      return price
    }
    if before != nil, let after {
      guard priced(after, lineage) == product, let next = after.grossLocal, next != reported else {
        return price
      }
      let began = rules.prices.firstWeek(of: next, for: product)
      guard let began, began <= Week(of: time) else { return price }
      return LikelyPrice(like: after, local: next)
    }
    guard let usual = rules.prices.usual(product, at: time), usual != reported else { return price }
    // Another price counts only when it came up, or went out of use, between the two charges.
    let (from, to) = before == nil ? (time, nearest.time) : (nearest.time, time)
    let began = rules.prices.firstWeek(of: before == nil ? reported : usual, for: product)
    if let began, began > Week(of: from), began <= Week(of: to) { price.local = usual }
    return price
  }

  /// What others paid in full, where all that came were offers; nil when unknown.
  private func usualPrice(
    at time: Instant, beside offers: [Charge], _ lineage: LineageInput
  ) -> LikelyPrice? {
    guard let offer = offers.last, let product = priced(offer, lineage),
      let usual = rules.prices.usual(product, at: time), let paid = offer.grossLocal, usual > paid
    else { return nil }
    return LikelyPrice(like: offer, local: usual)
  }

  private func withoutCheapStart(_ full: [Charge]) -> [Charge] {
    guard let first = full.first, first.kind != .renewal,
      let next = full.dropFirst().first(where: { $0.kind == .renewal }),
      first.currency == next.currency, let price = first.grossLocal, let later = next.grossLocal,
      price < later
    else { return full }
    return Array(full.dropFirst())
  }

  /// The offer's price in the currency of `full`; nil when no offer like it is known.
  private func offerPrice(
    _ full: LikelyPrice, _ known: [Charge], _ lineage: LineageInput
  ) -> Amount? {
    guard let local = full.local else { return nil }
    if let product = priced(full.like, lineage),
      let offer = rules.prices.offer(of: product, full: local)
    {
      return offer
    }
    return known.last { $0.currency == full.like.currency && ($0.grossLocal ?? local) < local }?
      .grossLocal
  }

  /// Whether a charge was paid at the price of an offer: by the snapshot, else if the charges
  /// before and after it cost more.
  private func isOffer(_ index: Int, among paid: [Charge], _ lineage: LineageInput) -> Bool {
    let charge = paid[index]
    switch view?.transaction(charge.transaction)?.kind {
    case .introStarted, .introRenewed: return true
    case .started, .renewed, .oneTime, .trialStarted: return false
    case .unknown, .free, nil: break
    }
    guard let price = charge.grossLocal, let product = priced(charge, lineage) else { return false }
    let near = [index - 1, index + 1].filter(paid.indices.contains).map { paid[$0] }
      .filter { priced($0, lineage) == product }.compactMap(\.grossLocal)
    guard !near.isEmpty, near.allSatisfy({ $0 > price }) else { return false }
    return near.count == 2 || rules.prices.offer(of: product, full: near[0]) == price
  }

  private func priced(_ charge: Charge, _ lineage: LineageInput) -> PricedProduct? {
    guard charge.currency != 0 else { return nil }
    return PricedProduct(
      product: charge.product, store: lineage.latest.store, currency: charge.currency)
  }
}

/// What refunds show of a charge that never came.
extension LineageInput {
  /// The product that was given back; nil when no refund shows it.
  func productGivenBack(of transaction: Int64) -> String? {
    refunds(ofUnseen: transaction).first { $0.product != 0 }.map { text($0.product) }
  }

  /// All that was given back, in US dollars; nil when no refund shows it.
  func amountGivenBack(of transaction: Int64) -> Amount? {
    let parts = refunds(ofUnseen: transaction).compactMap(\.grossUSD)
    guard !parts.isEmpty, let all = try? parts.reduce(Amount.zero, { try $0.adding($1) }),
      all <= .lineMaxUSD
    else { return nil }
    return all
  }

  private func refunds(ofUnseen transaction: Int64) -> [Refund] {
    latest.refunds.filter {
      transaction != 0 && $0.transaction == transaction && !$0.chargeIsKnown
    }
  }
}

/// A price in the currency of a charge that came.
private struct LikelyPrice {
  /// The charge at whose rate the price is converted to US dollars.
  let like: Charge
  var local: Amount?

  func gross(_ count: Int64) -> Amount? {
    guard let usd = like.grossUSD, let one = perCharge(usd) else { return nil }
    guard let all = try? one.scaled(by: count, over: 1), all.magnitude <= .lineMaxUSD else {
      return nil
    }
    return all
  }

  private func perCharge(_ usd: Amount) -> Amount? {
    guard let local, let paid = like.grossLocal, local != paid, paid > .zero else { return usd }
    return try? usd.scaled(by: local.micros, over: paid.micros)
  }
}
