import Domain

/// Recounts renewals by number, and trials by outcome.
struct RenewalRecount {
  private var renewals = TruthTable(
    name: "renewals_monthly.csv", more: ["renewal_ordinal"],
    measures: ["renewals", "renewals_refunded"])
  private var trials = TruthTable(
    name: "trials_monthly.csv",
    measures: ["started", "converted", "canceled", "expired", "pending", "conversion_rate"])

  mutating func add(_ subscription: Subscription, _ completeness: Completeness) {
    let span = completeness.span
    for charge in subscription.periods.map(\.charge)
    where charge.time >= span.start && charge.kind == .renewal {
      // Empty number if the start was never seen.
      var row = TruthRow(
        month: civilMonth(of: charge.time), shop: completeness.shop, product: charge.product,
        more: [charge.ordinal.map { String($0) } ?? ""])
      renewals.add(1, to: "renewals", of: row)
      if let refund = charge.refund {
        row.month = civilMonth(of: refund.time)
        renewals.add(1, to: "renewals_refunded", of: row)
      }
    }
    if let trial = subscription.trial, trial.start >= span.start { add(trial, completeness) }
  }

  private mutating func add(_ trial: AccessPeriod, _ completeness: Completeness) {
    let row = TruthRow(
      month: civilMonth(of: trial.start), shop: completeness.shop, product: trial.product)
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
    let renewed = renewals.file(completeness) { row, sum in
      let isUnknown = sum("renewals_refunded") == 0 && !row.shop.sender.sendsRefunds(.subscription)
      return isUnknown ? ["renewals_refunded": ""] : [:]
    }
    let tried = trials.file(completeness) { row, sum in
      let isPast = completeness[row.shop]?.isComplete(row.month, slack: 0) ?? false
      return [
        "conversion_rate": printedRate(
          sum("converted"), over: sum("converted") + sum("expired")),
        "is_complete": "\(isPast && sum("pending") == 0)",
      ]
    }
    return [renewed, tried]
  }
}
