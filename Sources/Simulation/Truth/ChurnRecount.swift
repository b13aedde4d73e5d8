import Domain

/// Recounts who was active at each boundary and who came and went between them.
///
/// Opens and closes are asked of the periods themselves, not summed from the movements, so that
/// the roll-forward is a check.
struct ChurnRecount {
  private struct Sums {
    var open: Int64 = 0
    var close: Int64 = 0
    var lost: Int64 = 0
    var autoRenewOff: Int64 = 0
    var movements: [Movement: Int64] = [:]
    var reasons: [ChurnReason: Int64] = [:]

    subscript(_ movement: Movement) -> Int64 { movements[movement] ?? 0 }
  }

  private var rows: [ShopMonth: Sums] = [:]

  /// Counts one subscription.
  mutating func add(_ seen: [SeenPeriod], shop: Shop, horizon: Horizon) {
    guard let first = seen.first else { return }
    addMovements(seen, shop)
    for month in horizon.months where start(of: month.next) > first.start {
      let open = seen.first { $0.isActive(at: start(of: month)) }
      let close = seen.first { $0.isActive(at: horizon.close(of: month)) }
      if let open {
        let row = ShopMonth(month: month, shop: shop, product: open.product)
        rows[row, default: Sums()].open += 1
        if close == nil { rows[row, default: Sums()].lost += 1 }
      }
      if let close {
        let row = ShopMonth(month: month, shop: shop, product: close.product)
        rows[row, default: Sums()].close += 1
        let off = close.period.canceledAt.map { $0 < horizon.close(of: month) } ?? false
        if off { rows[row, default: Sums()].autoRenewOff += 1 }
      }
    }
  }

  private mutating func addMovements(_ seen: [SeenPeriod], _ shop: Shop) {
    for (index, period) in seen.enumerated() {
      if let entry = period.entry { count(entry, period.start, period.product, shop) }
      if period.continues, seen[index - 1].product != period.product {
        count(.transferOut, period.start, seen[index - 1].product, shop)
        count(.transferIn, period.start, period.product, shop)
      }
      if let exit = period.exit, let end = period.cover {
        count(.churned, end, period.product, shop)
        let row = ShopMonth(month: civilMonth(of: end), shop: shop, product: period.product)
        rows[row, default: Sums()].reasons[exit, default: 0] += 1
      }
    }
  }

  private mutating func count(
    _ movement: Movement, _ time: Int64, _ product: Int, _ shop: Shop
  ) {
    let row = ShopMonth(month: civilMonth(of: time), shop: shop, product: product)
    rows[row, default: Sums()].movements[movement, default: 0] += 1
  }

  /// `churn_monthly.csv` as it must be when nothing is lost.
  func table(_ horizons: [Shop: Horizon]) -> TruthTable {
    var table = TruthTable(
      name: "churn_monthly.csv", key: TruthTable.shopKey,
      measures: [
        "active_open", "new", "first_seen", "reactivated", "recovered", "resumed", "transfer_in",
        "churned", "paused", "transfer_out", "active_close", "churned_voluntary",
        "churned_involuntary", "churned_refund", "churned_price_increase", "churned_developer",
        "churned_unknown", "churned_in_doubt", "lost", "churn_rate", "churn_rate_revenuecat",
        "auto_renew_off", "is_complete",
      ])
    for (row, sums) in rows {
      let counts = [
        sums.open, sums[.new], sums[.firstSeen], sums[.reactivated], sums[.recovered], 0,
        sums[.transferIn], sums[.churned], 0, sums[.transferOut], sums.close,
      ]
      let reasons: [ChurnReason] = [
        .voluntary, .involuntary, .refund, .priceIncrease, .developer, .unknown,
      ]
      let won = sums[.reactivated] + sums[.recovered]
      let isComplete = horizons[row.shop]?
        .isComplete(row.month, slack: Horizon.renewalGap + row.shop.provider.deliveryWindow)
      table.add(
        key: row.key,
        measures: counts.map(String.init) + reasons.map { String(sums.reasons[$0] ?? 0) } + [
          "0", String(sums.lost), printedRate(sums.lost, over: sums.open),
          printedRate(sums[.churned] - won, over: sums.open), String(sums.autoRenewOff),
          printed(isComplete ?? false),
        ])
    }
    return table
  }
}
