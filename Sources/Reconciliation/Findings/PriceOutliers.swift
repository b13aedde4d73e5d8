import Subscriptions
public import Domain

/// Finds charges far from those of others, group by group.
public protocol ChargeOutliers {
  /// Whether there are no outliers, so that groups need not be read.
  var isEmpty: Bool { get }

  /// Whether `event` may be an outlier; only its lineage shows whether it is.
  func mayInclude(_ event: Event) -> Bool

  /// The breaks of one lineage's charges, sorted by id.
  func breaks(in lineage: LineageInput, _ events: [Event], rules: ReconciliationSettings) -> [Break]
}

/// Prices at least five times, or at most a fifth of, the median of their product, store, currency
/// and country, and that few others paid.
///
/// A price that one in twenty paid is an offer or a separate price; a price in the price book is
/// known. First charges and purchases are compared only with each other, and only higher prices are
/// outliers: a lower one can be an offer.
public struct PriceOutliers: Sendable, Equatable, ChargeOutliers {
  private var prices: [Group: Rare] = [:]
  private var amounts: Set<Amount> = []

  /// Charges that have one usual price.
  private struct Group: Hashable {
    var product: PricedProduct
    /// Whether it contains first charges or purchases, and not renewals.
    var isFirst: Bool
  }

  private struct Rare: Equatable {
    var median: Amount
    var prices: Set<Amount>
    /// Whether the median has so many charges that a different price alone is an outlier.
    var isCommon: Bool
  }

  /// Finds outliers among all paid prices; a group of fewer than three charges has none.
  public init(_ paid: [PaidPrice: Int64]) {
    var counts: [Group: [Amount: Int64]] = [:]
    for (entry, count) in paid where count > 0 {
      counts[Self.group(of: entry), default: [:]][entry.price, default: 0] += count
    }
    for (group, counts) in counts { prices[group] = Self.rare(counts, group.isFirst) }
    amounts = prices.values.reduce(into: []) { $0.formUnion($1.prices) }
  }

  private static func group(of paid: PaidPrice) -> Group {
    Group(product: paid.product, isFirst: paid.week == nil && paid.full == nil)
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

  /// The same outliers, limited to prices that `paid` contains.
  public func among(_ paid: [PaidPrice: Int64]) -> PriceOutliers {
    var among = PriceOutliers([:])
    for (entry, count) in paid where count > 0 {
      let group = Self.group(of: entry)
      guard var rare = prices[group], rare.prices.contains(entry.price) else { continue }
      rare.prices = []
      among.prices[group, default: rare].prices.insert(entry.price)
      among.amounts.insert(entry.price)
    }
    return among
  }

  /// Whether there are no outliers.
  public var isEmpty: Bool { prices.isEmpty }

  /// Whether `event` is a charge at a price that is an outlier for some product.
  public func mayInclude(_ event: Event) -> Bool { event.unitPrice.map(amounts.contains) ?? false }

  /// The breaks of one lineage's charges, sorted by id: charges with an outlier price that is also
  /// far from the previous and next charge; a first charge or purchase without neighbours counts if
  /// the median has twenty charges.
  public func breaks(
    in lineage: LineageInput, _ events: [Event], rules: ReconciliationSettings
  ) -> [Break] {
    let charges = lineage.latest.charges.filter { $0.basis == .provider }
    let findings = charges.indices.compactMap { index in
      finding(of: charges[index], among: charges, at: index, lineage, events, rules)
    }
    return Reconciliation.breaks(from: findings, lineage: lineage, rules: rules)
  }

  /// The finding about a charge; nil if its price is not rare, or is close to that of a neighbour,
  /// or if it is a renewal without neighbours.
  private func finding(
    of charge: Charge, among charges: [Charge], at index: Int, _ lineage: LineageInput,
    _ events: [Event], _ rules: ReconciliationSettings
  ) -> FoldFinding? {
    let own = events.first {
      $0.transaction == charge.transaction && $0.time == charge.time && mayInclude($0)
    }
    guard let event = own, event.offer == 0, let price = event.unitPrice else { return nil }
    let product = PricedProduct(
      product: charge.product, store: lineage.latest.store, currency: charge.price.currency,
      country: event.country)
    guard let rare = rare(price, product, charge.kind),
      rules.fold.prices.price(of: product, at: charge.time)?.amounts.local != price
    else { return nil }
    func isUsual(_ other: Charge) -> Bool {
      guard other.product == charge.product, other.price.currency == charge.price.currency,
        let price = other.price.local
      else { return false }
      return self.rare(price, product, other.kind) == nil
    }
    let others = [
      charges[..<index].last(where: isUsual), charges[(index + 1)...].first(where: isUsual),
    ].compactMap(\.self)
    let near = others.compactMap(\.price.local).filter { !isFar(price, from: $0, factor: factor) }
    guard near.isEmpty else { return nil }
    var (difference, beside) = (Amount?.none, "the median is \(rare.median.text())")
    if let usual = others.first, let other = usual.price.local {
      beside = "the charge of \(usual.time.text) \(other.text())"
      if let own = charge.price.usd, let other = usual.price.usd {
        difference = try? own.subtracting(other)
      }
    } else {
      guard charge.kind != .renewal, rare.isCommon,
        let over = try? price.subtracting(rare.median)
      else { return nil }
      difference = try? charge.price.usd?.scaled(by: over.micros, over: price.micros)
    }
    return FoldFinding(
      .priceOutlier, event, difference: difference,
      "\(event.kindAndTime) costs \(price.text()) local, \(beside); few charges of the product are "
        + "as far off")
  }

  /// The group in which a price is rare; nil for other prices.
  private func rare(_ price: Amount, _ product: PricedProduct, _ kind: ChargeKind) -> Rare? {
    let group = prices[Group(product: product, isFirst: kind != .renewal)]
    return group.flatMap { $0.prices.contains(price) ? $0 : nil }
  }
}

/// Whether an amount is at least `factor` times another one, or at most that fraction of it.
private func isFar(_ amount: Amount, from other: Amount, factor: Int64) -> Bool {
  let (own, theirs) = (Int128(amount.micros.magnitude), Int128(other.micros.magnitude))
  return own != theirs && (own >= theirs * Int128(factor) || own * Int128(factor) <= theirs)
}

/// The number of charges that a median needs.
private let samplesMin: Int64 = 3
/// The number that it needs if the subscription has no other charge.
private let commonMin: Int64 = 20
private let factor: Int64 = 5
