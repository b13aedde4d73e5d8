import Domain

/// Recounts the active subscriptions at each boundary and the movements between them, in
/// subscriptions and in monthly recurring revenue.
///
/// Opening and closing balances are computed from the periods, not from the movements, so that the
/// roll-forward is a check.
struct SubscriptionRecount {
  private var churn = TruthTable(
    name: "churn_monthly.csv",
    measures: [
      "active_open", "new", "first_seen", "reactivated", "recovered", "resumed", "transfer_in",
      "churned", "paused", "transfer_out", "active_close", "churned_voluntary",
      "churned_involuntary", "churned_refund", "churned_price_increase", "churned_developer",
      "churned_unknown", "churned_in_doubt", "lost", "churn_rate", "churn_rate_revenuecat",
      "auto_renew_off",
    ])
  private var revenue = TruthTable(
    name: "mrr_monthly.csv",
    measures: [
      "mrr_open", "new", "first_seen", "reactivated", "recovered", "resumed", "expansion",
      "contraction", "transfer_in", "churned", "paused", "transfer_out", "fx", "mrr_close",
      "arr_close",
    ], format: printed)

  mutating func add(_ seen: [SeenPeriod], _ completeness: Completeness) {
    guard let first = seen.first else { return }
    let shop = completeness.shop
    addMovements(seen, shop)
    for month in completeness.months where start(of: month.next) > first.start {
      let closing = min(start(of: month.next), completeness.span.end)
      let close = seen.first { $0.isActive(at: closing) }
      if let open = seen.first(where: { $0.isActive(at: start(of: month)) }) {
        let row = TruthRow(month: month, shop: shop, product: open.product)
        churn.add(1, to: "active_open", of: row)
        revenue.add(open.recurring, to: "mrr_open", of: row)
        if close == nil { churn.add(1, to: "lost", of: row) }
      }
      guard let close else { continue }
      let row = TruthRow(month: month, shop: shop, product: close.product)
      churn.add(1, to: "active_close", of: row)
      revenue.add(close.recurring, to: "mrr_close", of: row)
      let isOff = close.period.canceledAt.map { $0 < closing } ?? false
      if isOff { churn.add(1, to: "auto_renew_off", of: row) }
    }
  }

  private mutating func addMovements(_ seen: [SeenPeriod], _ shop: Shop) {
    for (index, period) in seen.enumerated() {
      let row = TruthRow(
        month: civilMonth(of: period.start), shop: shop, product: period.product)
      if let entry = period.entry {
        add(entry, period.recurring, row)
      } else {
        addContinuation(seen[index - 1], period, row)
      }
      if let exit = period.exit, let end = period.cover {
        let row = TruthRow(month: civilMonth(of: end), shop: shop, product: period.product)
        add("churned", period.recurring, row)
        churn.add(1, to: "churned_\(exit)", of: row)
      }
    }
  }

  private mutating func add(_ movement: String, _ recurring: Int64, _ row: TruthRow) {
    churn.add(1, to: movement, of: row)
    revenue.add(recurring, to: movement, of: row)
  }

  private mutating func addContinuation(_ old: SeenPeriod, _ new: SeenPeriod, _ row: TruthRow) {
    if old.product != new.product {
      var left = row
      left.product = old.product
      add("transfer_out", old.recurring, left)
      add("transfer_in", new.recurring, row)
    } else {
      // The change of the local price at the old exchange rate; the rest is due to the rate.
      let (was, now) = (old.period.charge.gross, new.period.charge.gross)
      let share = new.period.charge.monthly
      let exact = Int128(now.local - was.local) * Int128(share.numerator) * Int128(was.usd)
      let divisor = Int128(was.local) * Int128(share.denominator)
      let change = Int64(clamping: exact.dividedHalfToEven(by: divisor))
      revenue.add(max(change, 0), to: "expansion", of: row)
      revenue.add(max(-change, 0), to: "contraction", of: row)
      revenue.add(new.recurring - old.recurring - change, to: "fx", of: row)
    }
  }

  /// Names and contents of both files.
  func files(_ completeness: [Shop: Completeness]) -> [(name: String, text: String)] {
    let churned = churn.file(completeness) { row, sum in
      let won = sum("reactivated") + sum("recovered")
      return [
        "churn_rate": printedRate(sum("lost"), over: sum("active_open")),
        "churn_rate_revenuecat": printedRate(sum("churned") - won, over: sum("active_open")),
      ]
    }
    let recurring = revenue.file(completeness) { row, sum in
      ["arr_close": printed(12 * sum("mrr_close"))]
    }
    return [churned, recurring]
  }
}

extension Charge {
  /// The share of a charge for an average month.
  var monthly: (numerator: Int64, denominator: Int64) {
    switch product.period {
    case .months(let count): (1, Int64(count))
    case .days(let count): (365, 12 * Int64(count))
    case nil: (0, 1)
    }
  }
}

extension SeenPeriod {
  /// Monthly recurring revenue in millionths of a US dollar.
  var recurring: Int64 {
    let share = period.charge.monthly
    return scaled(period.charge.gross.usd, share.numerator, share.denominator)
  }
}
