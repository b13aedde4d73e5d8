import Subscriptions
public import Domain

/// What finds charges that are far off those of others, group by group.
public protocol ChargeOutliers {
  /// Whether no charge is off, so that groups need not be read.
  var isEmpty: Bool { get }

  /// Whether `event` may be a charge that is off; only its lineage shows whether it is one.
  func mayInclude(_ event: Event) -> Bool

  /// The breaks of one lineage's charges, sorted by id.
  func breaks(
    in lineage: LineageInput, _ events: [Event], rules: ReconciliationSettings
  ) -> [Break]
}

extension ExchangeOutliers: ChargeOutliers {}

/// Prices of charges that are at least five times the median of their product, shop, currency and
/// country, or at most a fifth of it, and that few others paid.
///
/// What one in twenty pays is an offer, or a price of its own; what the price book lists is known.
/// First charges and purchases are compared among themselves, and only those that cost more: what
/// costs less can be an offer.
public struct PriceOutliers: Sendable, Equatable, ChargeOutliers {
  private var prices: [Group: Rare] = [:]
  private var amounts: Set<Amount> = []

  /// What has one usual price.
  private struct Group: Hashable {
    var product: PricedProduct
    /// Whether it is of first charges or purchases, rather than renewals.
    var isFirst: Bool

    init(_ product: PricedProduct, isFirst: Bool) {
      (self.product, self.isFirst) = (product, isFirst)
    }

    init(_ paid: PaidPrice) {
      self.init(paid.product, isFirst: paid.week == nil && paid.full == nil)
    }
  }

  private struct Rare: Equatable {
    var median: Amount
    var prices: Set<Amount>
    /// Whether so many charges have the median that another price alone is off.
    var isCommon: Bool
  }

  /// Finds the prices among what all charges cost: of fewer than three of a product none is off.
  public init(_ paid: [PaidPrice: Int64]) {
    var counts: [Group: [Amount: Int64]] = [:]
    for (entry, count) in paid where count > 0 {
      counts[Group(entry), default: [:]][entry.price, default: 0] += count
    }
    for (group, counts) in counts { prices[group] = Self.rare(counts, group.isFirst) }
    amounts = prices.values.reduce(into: []) { $0.formUnion($1.prices) }
  }

  private static func rare(_ counts: [Amount: Int64], _ isFirst: Bool) -> Rare? {
    let total = counts.values.reduce(0, +)
    guard total >= samplesMin, counts.count > 1 else { return nil }
    guard let median = counts.medians?.lower, median > .zero else { return nil }
    let far = counts.keys.filter { isFar($0, from: median, factor: factor) }
    let rare = far.filter { price in
      let alike = counts.filter { !isFar($0.key, from: price, factor: 2) }.values.reduce(0, +)
      return (alike == 1 || alike * 20 <= total) && (!isFirst || price > median)
    }
    guard !rare.isEmpty else { return nil }
    return Rare(median: median, prices: Set(rare), isCommon: total >= commonMin)
  }

  /// The same among the prices that `paid` contains.
  public func among(_ paid: [PaidPrice: Int64]) -> PriceOutliers {
    var known: [Group: Set<Amount>] = [:]
    for (entry, count) in paid where count > 0 && prices[Group(entry)] != nil {
      known[Group(entry), default: []].insert(entry.price)
    }
    var copy = self
    copy.prices = prices.reduce(into: [:]) { result, entry in
      var rare = entry.value
      rare.prices.formIntersection(known[entry.key] ?? [])
      if !rare.prices.isEmpty { result[entry.key] = rare }
    }
    copy.amounts = copy.prices.values.reduce(into: []) { $0.formUnion($1.prices) }
    return copy
  }

  /// Whether no price is off.
  public var isEmpty: Bool { prices.isEmpty }

  /// Whether `event` is a charge at a price that is off for some product.
  public func mayInclude(_ event: Event) -> Bool { event.unitPrice.map(amounts.contains) ?? false }

  /// The breaks of one lineage's charges, sorted by id: their price is off, and so it is beside the
  /// charges before and after; of twenty first charges or purchases, one may be alone.
  public func breaks(
    in lineage: LineageInput, _ events: [Event], rules: ReconciliationSettings
  ) -> [Break] {
    let charges = lineage.latest.charges.filter { $0.basis == .provider }
    let findings = charges.indices.compactMap { index in
      finding(of: charges[index], among: charges, at: index, lineage, events, rules)
    }
    return Reconciliation.breaks(from: findings, lineage: lineage, rules: rules)
  }

  private func finding(
    of charge: Charge, among charges: [Charge], at index: Int, _ lineage: LineageInput,
    _ events: [Event], _ rules: ReconciliationSettings
  ) -> FoldFinding? {
    let store = lineage.latest.store
    let own = events.first {
      $0.transaction == charge.transaction && $0.time == charge.time && mayInclude($0)
    }
    guard let event = own, event.offer == 0, let price = event.unitPrice,
      let rare = rare(price, charge, store, event.country)
    else { return nil }
    let listed = rules.fold.prices.price(
      of: charge.product, in: store, country: event.country, currency: charge.currency,
      at: charge.time)
    guard listed?.local != price else { return nil }
    func isUsual(_ other: Charge) -> Bool {
      guard other.product == charge.product, other.currency == charge.currency,
        let price = other.grossLocal
      else { return false }
      return self.rare(price, other, store, event.country) == nil
    }
    let others = [
      charges[..<index].last(where: isUsual), charges[(index + 1)...].first(where: isUsual),
    ]
    return finding(event, charge, price, rare, others.compactMap(\.self))
  }

  /// What a price is rare among; nil for others.
  private func rare(
    _ price: Amount, _ charge: Charge, _ store: Store, _ country: StringID
  ) -> Rare? {
    let product = PricedProduct(
      product: charge.product, store: store, currency: charge.currency, country: country)
    let group = prices[Group(product, isFirst: charge.kind != .renewal)]
    return group.flatMap { $0.prices.contains(price) ? $0 : nil }
  }

  /// The finding of a charge beside its neighbours; nil when it is near one, and for a renewal
  /// without any.
  private func finding(
    _ event: Event, _ charge: Charge, _ price: Amount, _ rare: Rare, _ others: [Charge]
  ) -> FoldFinding? {
    let near = others.compactMap(\.grossLocal).filter { !isFar(price, from: $0, factor: factor) }
    guard near.isEmpty else { return nil }
    var (difference, beside) = (Amount?.none, "the median is \(rare.median.text())")
    if let usual = others.first, let other = usual.grossLocal {
      beside = "the charge of \(usual.time.text) \(other.text())"
      if let own = charge.grossUSD, let other = usual.grossUSD {
        difference = try? own.subtracting(other)
      }
    } else {
      guard charge.kind != .renewal, rare.isCommon,
        let over = try? price.subtracting(rare.median)
      else { return nil }
      difference = try? charge.grossUSD?.scaled(by: over.micros, over: price.micros)
    }
    return FoldFinding(
      .priceOutlier, event, difference: difference,
      "\(event.kind.name) of \(event.time.text) costs \(price.text()) local, \(beside); few "
        + "charges of the product are as far off")
  }
}

/// Whether an amount is at least `factor` times another one, or at most that part of it.
private func isFar(_ amount: Amount, from other: Amount, factor: Int64) -> Bool {
  let (own, theirs) = (Int128(amount.micros.magnitude), Int128(other.micros.magnitude))
  return own != theirs && (own >= theirs * Int128(factor) || own * Int128(factor) <= theirs)
}

/// How many charges a median needs.
private let samplesMin: Int64 = 3
/// How many it needs to count where the subscription has no other charge.
private let commonMin: Int64 = 20
private let factor: Int64 = 5
