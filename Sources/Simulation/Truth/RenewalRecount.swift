import Domain

/// Recounts renewals by their number, and trials by what became of them.
struct RenewalRecount {
  private struct Row: Hashable {
    var shopMonth: ShopMonth
    /// Nil while the start was never seen.
    var ordinal: Int32?
  }

  private struct Trials {
    var started: Int64 = 0
    var converted: Int64 = 0
    var canceled: Int64 = 0
    var expired: Int64 = 0
    var pending: Int64 = 0
  }

  private var renewals: [Row: (renewed: Int64, refunded: Int64)] = [:]
  private var trials: [ShopMonth: Trials] = [:]

  /// Counts one subscription.
  mutating func add(_ subscription: Subscription, shop: Shop, horizon: Horizon) {
    for period in subscription.periods where period.charge.time >= horizon.span.start {
      let charge = period.charge
      guard charge.kind == .renewal else { continue }
      let row = row(charge, at: charge.time, shop)
      renewals[row, default: (0, 0)].renewed += 1
      if let refund = charge.refund {
        renewals[self.row(charge, at: refund.time, shop), default: (0, 0)].refunded += 1
      }
    }
    if let trial = subscription.trial, trial.start >= horizon.span.start,
      trial.start < horizon.span.end
    {
      add(trial, shop, horizon)
    }
  }

  private func row(_ charge: Charge, at time: Int64, _ shop: Shop) -> Row {
    let month = civilMonth(of: time)
    return Row(
      shopMonth: ShopMonth(month: month, shop: shop, product: charge.product),
      ordinal: charge.ordinal)
  }

  private mutating func add(_ trial: TrialPeriod, _ shop: Shop, _ horizon: Horizon) {
    let row = ShopMonth(
      month: civilMonth(of: trial.start), shop: shop, product: trial.product)
    var sums = trials[row] ?? Trials()
    sums.started += 1
    if trial.canceledAt != nil { sums.canceled += 1 }
    let isOver =
      trial.billingIssueAt == nil
      ? horizon.isOver(trial.end) : trial.end + Horizon.retryHorizon <= horizon.span.end
    if trial.convertedAt != nil {
      sums.converted += 1
    } else if isOver {
      sums.expired += 1
    } else {
      sums.pending += 1
    }
    trials[row] = sums
  }

  /// `renewals_monthly.csv` as it must be when nothing is lost.
  func renewalTable(_ horizons: [Shop: Horizon]) -> TruthTable {
    var table = TruthTable(
      name: "renewals_monthly.csv", key: TruthTable.shopKey + ["renewal_ordinal"],
      measures: ["renewals", "renewals_refunded", "is_complete"])
    for (row, sums) in renewals {
      let ordinal = row.ordinal.map { String($0) } ?? ""
      let shop = row.shopMonth.shop
      let isComplete = horizons[shop]?
        .isComplete(
          row.shopMonth.month, slack: Horizon.renewalGap + shop.provider.deliveryWindow)
      let padding = String(repeating: "0", count: max(0, 6 - ordinal.count))
      table.add(
        key: row.shopMonth.key + [ordinal], sortKey: row.shopMonth.key + [padding + ordinal],
        measures: [
          String(sums.renewed),
          sums.refunded == 0 && !shop.provider.tellsRefunds(of: .subscription)
            ? "" : String(sums.refunded),
          printed(isComplete ?? false),
        ])
    }
    return table
  }

  /// `trials_monthly.csv` as it must be when nothing is lost.
  func trialTable(_ horizons: [Shop: Horizon]) -> TruthTable {
    var table = TruthTable(
      name: "trials_monthly.csv", key: TruthTable.shopKey,
      measures: [
        "started", "converted", "canceled", "expired", "pending", "conversion_rate",
        "is_complete",
      ])
    for (row, sums) in trials {
      let isPast = horizons[row.shop]?.isComplete(row.month, slack: 0) ?? false
      let counts = [sums.started, sums.converted, sums.canceled, sums.expired, sums.pending]
      let rate = printedRate(sums.converted, over: sums.converted + sums.expired)
      table.add(
        key: row.key,
        measures: counts.map(String.init) + [rate, printed(isPast && sums.pending == 0)])
    }
    return table
  }
}
