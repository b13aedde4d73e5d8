import Domain

/// Recounts monthly recurring revenue in US dollars, at each boundary and between them.
struct RecurringRevenueRecount {
  private struct Sums {
    var open: Int64 = 0
    var close: Int64 = 0
    var movements: [Movement: Int64] = [:]

    subscript(_ movement: Movement) -> Int64 { movements[movement] ?? 0 }
  }

  private var rows: [ShopMonth: Sums] = [:]

  /// Counts one subscription.
  mutating func add(_ seen: [SeenPeriod], shop: Shop, horizon: Horizon) {
    guard let first = seen.first else { return }
    for (index, period) in seen.enumerated() {
      addMovements(period, after: index > 0 ? seen[index - 1] : nil, shop)
    }
    for month in horizon.months where start(of: month.next) > first.start {
      if let open = seen.first(where: { $0.isActive(at: start(of: month)) }) {
        let row = ShopMonth(month: month, shop: shop, product: open.product)
        rows[row, default: Sums()].open += open.recurring
      }
      if let close = seen.first(where: { $0.isActive(at: horizon.close(of: month)) }) {
        let row = ShopMonth(month: month, shop: shop, product: close.product)
        rows[row, default: Sums()].close += close.recurring
      }
    }
  }

  private mutating func addMovements(
    _ period: SeenPeriod, after before: SeenPeriod?, _ shop: Shop
  ) {
    if let entry = period.entry {
      count(entry, period.recurring, period.start, period.product, shop)
    }
    if period.continues, let before {
      if before.product != period.product {
        count(.transferOut, before.recurring, period.start, before.product, shop)
        count(.transferIn, period.recurring, period.start, period.product, shop)
      } else {
        addChange(before, period, shop)
      }
    }
    if period.exit != nil, let end = period.cover {
      count(.churned, period.recurring, end, period.product, shop)
    }
  }

  /// The change of the local price at the old exchange rate; the rest is exchange rate.
  private mutating func addChange(_ old: SeenPeriod, _ new: SeenPeriod, _ shop: Shop) {
    guard let was = old.paid, let now = new.paid else {
      // What the subscription was worth before was never seen, so that all of it comes in.
      if new.recurring != 0 { count(.transferIn, new.recurring, new.start, new.product, shop) }
      return
    }
    let (oldShare, newShare) = (was.monthly, now.monthly)
    let before =
      Int128(was.gross.local) * Int128(oldShare.numerator) * Int128(newShare.denominator)
    let after =
      Int128(now.gross.local) * Int128(newShare.numerator) * Int128(oldShare.denominator)
    let divisor =
      Int128(was.gross.local) * Int128(oldShare.denominator) * Int128(newShare.denominator)
    let exact = (after - before) * Int128(was.gross.usd)
    let change = Int64(clamping: exact.dividedHalfToEven(by: divisor))
    let rest = new.recurring - old.recurring - change
    if change > 0 { count(.expansion, change, new.start, new.product, shop) }
    if change < 0 { count(.contraction, -change, new.start, new.product, shop) }
    if rest != 0 { count(.fx, rest, new.start, new.product, shop) }
  }

  private mutating func count(
    _ movement: Movement, _ amount: Int64, _ time: Int64, _ product: Int, _ shop: Shop
  ) {
    let row = ShopMonth(month: civilMonth(of: time), shop: shop, product: product)
    rows[row, default: Sums()].movements[movement, default: 0] += amount
  }

  /// `mrr_monthly.csv` as it must be when nothing is lost.
  func table(_ horizons: [Shop: Horizon]) -> TruthTable {
    var table = TruthTable(
      name: "mrr_monthly.csv", key: TruthTable.shopKey,
      measures: [
        "mrr_open", "new", "first_seen", "reactivated", "recovered", "resumed", "expansion",
        "contraction", "transfer_in", "churned", "paused", "transfer_out", "fx", "mrr_close",
        "arr_close", "is_complete",
      ])
    for (row, sums) in rows {
      let amounts = [
        sums.open, sums[.new], sums[.firstSeen], sums[.reactivated], sums[.recovered], 0,
        sums[.expansion], sums[.contraction], sums[.transferIn], sums[.churned], 0,
        sums[.transferOut], sums[.fx], sums.close, 12 * sums.close,
      ]
      let isComplete = horizons[row.shop]?
        .isComplete(row.month, slack: Horizon.renewalGap + row.shop.provider.deliveryWindow)
      table.add(
        key: row.key, measures: amounts.map { printed($0) } + [printed(isComplete ?? false)])
    }
    return table
  }
}

extension Charge {
  /// The share of it that falls on an average month.
  var monthly: (numerator: Int64, denominator: Int64) {
    switch Product.all[product].period {
    case .months(let count): (1, Int64(count))
    case .days(let count): (365, 12 * Int64(count))
    case nil: (0, 1)
    }
  }
}

extension SeenPeriod {
  /// Monthly recurring revenue in millionths of a US dollar.
  var recurring: Int64 {
    paid.map { scaled($0.gross.usd, $0.monthly.numerator, $0.monthly.denominator) } ?? 0
  }
}
