import Domain

/// Recounts renewals by their number, and trials by what became of them.
struct RenewalRecount {
  private struct Row: TruthRow {
    var shopMonth: ShopMonth
    /// Nil while the start was never seen.
    var ordinal: Int32?

    static let columns = ShopMonth.columns + ["renewal_ordinal"]

    var key: [String] { shopMonth.key + [ordinal.map { String($0) } ?? ""] }

    var sortKey: [String] {
      shopMonth.key + [ordinal.map { decimal(UInt64($0), width: 6) } ?? "000000"]
    }
  }

  private var renewals = TruthTable<Row>(
    name: "renewals_monthly.csv", measures: ["renewals", "renewals_refunded", "is_complete"])
  private var trials = TruthTable<ShopMonth>(
    name: "trials_monthly.csv",
    measures: [
      "started", "converted", "canceled", "expired", "pending", "conversion_rate", "is_complete",
    ])

  mutating func add(_ subscription: Subscription, shop: Shop, completeness: Completeness) {
    let span = completeness.span
    for charge in subscription.periods.map(\.charge)
    where charge.time >= span.start && charge.kind == .renewal {
      renewals.add(1, to: "renewals", of: row(charge, at: charge.time, shop))
      if let refund = charge.refund {
        renewals.add(1, to: "renewals_refunded", of: row(charge, at: refund.time, shop))
      }
    }
    if let trial = subscription.trial, trial.start >= span.start, trial.start < span.end {
      add(trial, shop, completeness)
    }
  }

  private func row(_ charge: Charge, at time: Int64, _ shop: Shop) -> Row {
    let month = civilMonth(of: time)
    return Row(
      shopMonth: ShopMonth(month: month, shop: shop, product: charge.product),
      ordinal: charge.ordinal)
  }

  private mutating func add(_ trial: AccessPeriod, _ shop: Shop, _ completeness: Completeness) {
    let row = ShopMonth(
      month: civilMonth(of: trial.start), shop: shop, product: trial.product)
    let isOver =
      trial.billingIssueAt == nil
      ? completeness.isOver(trial.end)
      : trial.end + Completeness.retryHorizon <= completeness.span.end
    trials.add(1, to: "started", of: row)
    if trial.canceledAt != nil { trials.add(1, to: "canceled", of: row) }
    let outcome = trial.convertedAt != nil ? "converted" : isOver ? "expired" : "pending"
    trials.add(1, to: outcome, of: row)
  }

  /// Names and contents of both files.
  func files(_ completeness: [Shop: Completeness]) -> [(name: String, text: String)] {
    let renewed = renewals.text { row, sum in
      let shop = row.shopMonth.shop
      let isUnknown =
        sum("renewals_refunded") == 0 && !shop.provider.sendsRefunds(of: .subscription)
      return [
        "renewals_refunded": isUnknown ? "" : String(sum("renewals_refunded")),
        "is_complete": row.shopMonth.isComplete(completeness, slack: Completeness.renewalGap),
      ]
    }
    let tried = trials.text { row, sum in
      let isPast = completeness[row.shop]?.isComplete(row.month, slack: 0) ?? false
      return [
        "conversion_rate": printedRate(
          sum("converted"), over: sum("converted") + sum("expired")),
        "is_complete": "\(isPast && sum("pending") == 0)",
      ]
    }
    return [(renewals.name, renewed), (trials.name, tried)]
  }
}
