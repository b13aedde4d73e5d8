internal import Subscriptions
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

/// Prices of renewals that are at least five times the median of their product, shop, currency and
/// country, or at most a fifth of it, and that few others paid.
///
/// What one in twenty pays is an offer, or a price of its own; what the price book lists is known.
public struct PriceOutliers: Sendable, Equatable, ChargeOutliers {
  private var prices: [PricedProduct: Set<Amount>] = [:]
  private var amounts: Set<Amount> = []

  /// Finds the prices among what all renewals cost; of fewer than three of a product none is off.
  public init(_ paid: [PaidPrice: Int64]) {
    var counts: [PricedProduct: [Amount: Int64]] = [:]
    for (entry, count) in paid where count > 0 {
      counts[entry.product, default: [:]][entry.price, default: 0] += count
    }
    prices = counts.mapValues(Self.rare).filter { !$0.value.isEmpty }
    amounts = prices.values.reduce(into: []) { $0.formUnion($1) }
  }

  private static func rare(_ counts: [Amount: Int64]) -> Set<Amount> {
    let total = counts.values.reduce(0, +)
    guard total >= samplesMin, counts.count > 1 else { return [] }
    let sorted = counts.sorted { $0.key < $1.key }
    var seen: Int64 = 0
    let middle = sorted.first {
      seen += $0.value
      return seen * 2 >= total
    }
    guard let median = middle?.key, median > .zero else { return [] }
    let far = sorted.map(\.key).filter { isFar($0, from: median, factor: factor) }
    return Set(
      far.filter { price in
        let alike = counts.filter { !isFar($0.key, from: price, factor: 2) }.values.reduce(0, +)
        return alike == 1 || alike * 20 <= total
      })
  }

  /// The same among the prices that `paid` contains.
  public func among(_ paid: [PaidPrice: Int64]) -> PriceOutliers {
    var known: [PricedProduct: Set<Amount>] = [:]
    for (entry, count) in paid where count > 0 && prices[entry.product] != nil {
      known[entry.product, default: []].insert(entry.price)
    }
    var copy = self
    copy.prices = prices.reduce(into: [:]) { result, entry in
      let both = entry.value.intersection(known[entry.key] ?? [])
      if !both.isEmpty { result[entry.key] = both }
    }
    copy.amounts = copy.prices.values.reduce(into: []) { $0.formUnion($1) }
    return copy
  }

  /// Whether no price is off.
  public var isEmpty: Bool { prices.isEmpty }

  /// Whether `event` renewed at a price that is off for some product.
  public func mayInclude(_ event: Event) -> Bool {
    event.renewalPrice.map(amounts.contains) ?? false
  }

  /// The breaks of one lineage's renewals, sorted by id: their price is off, and so it is beside
  /// the charges before and after.
  public func breaks(
    in lineage: LineageInput, _ events: [Event], rules: ReconciliationSettings
  ) -> [Break] {
    let state = lineage.latest
    let charges = state.subscriptionCharges.filter { $0.basis == .provider }
    let findings = charges.indices.compactMap { index -> FoldFinding? in
      let charge = charges[index]
      guard charge.kind == .renewal, let gross = charge.grossLocal,
        let event = events.first(where: {
          $0.transaction == charge.transaction && $0.time == charge.time && mayInclude($0)
        }), event.offer == 0, isOff(gross, charge, state.store, event.country),
        rules.fold.prices.price(
          of: charge.product, in: state.store, country: event.country, currency: charge.currency,
          at: charge.time)?.local != gross
      else { return nil }
      let others = [charges[..<index].reversed(), Array(charges[(index + 1)...])].compactMap {
        $0.first { other in
          other.product == charge.product && other.currency == charge.currency
            && other.grossLocal.map { !isOff($0, other, state.store, event.country) } ?? false
        }
      }
      return finding(event, charge, gross, others)
    }
    return Reconciliation.breaks(from: findings, lineage: lineage, rules: rules)
  }

  private func isOff(
    _ gross: Amount, _ charge: Charge, _ store: Store, _ country: StringID
  ) -> Bool {
    let product = PricedProduct(
      product: charge.product, store: store, currency: charge.currency, country: country)
    return prices[product]?.contains(gross) ?? false
  }

  /// The finding of a charge beside its neighbours; nil when it has none, or is near one.
  private func finding(
    _ event: Event, _ charge: Charge, _ gross: Amount, _ others: [Charge]
  ) -> FoldFinding? {
    guard let usual = others.first, let price = usual.grossLocal,
      others.allSatisfy({ $0.grossLocal.map { isFar(gross, from: $0, factor: factor) } ?? true })
    else { return nil }
    var difference: Amount?
    if let own = charge.grossUSD, let other = usual.grossUSD {
      difference = try? own.subtracting(other)
    }
    return FoldFinding(
      .priceOutlier, event, difference: difference,
      "\(event.kind.name) of \(event.time.text) costs \(gross.text()) local, the charge of "
        + "\(usual.time.text) \(price.text()); few renewals of the product are as far off")
  }
}

/// Whether an amount is at least `factor` times another one, or at most that part of it.
private func isFar(_ amount: Amount, from other: Amount, factor: Int64) -> Bool {
  let (own, theirs) = (Int128(amount.micros.magnitude), Int128(other.micros.magnitude))
  return own != theirs && (own >= theirs * Int128(factor) || own * Int128(factor) <= theirs)
}

/// How many renewals a median needs.
private let samplesMin: Int64 = 3
private let factor: Int64 = 5
