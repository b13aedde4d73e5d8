internal import Domain
internal import EventStore

// Columns of the reports about subscriptions and their recurring revenue. In each row, open + gains
// − losses = close.

extension ReportDefinition {
  static let churnMonthly = ReportDefinition(
    name: "churn_monthly", query: PackageResources.churn_monthly_sql,
    prepare: { try $0.makeMovementMonths() },
    columns: [.month] + ReportColumn.productKey + movements + churnReasons + [
      .count("churned_in_doubt", of: unit, "Churned, but a MISSED break puts it in doubt."),
      .count("lost", of: unit, "Active at open, ended in the month, not back or paused at close."),
      .rate("churn_rate", "lost / active_open; empty when nothing was open."),
      .rate(
        "churn_rate_revenuecat",
        "(churned − reactivated − recovered) / active_open; empty when nothing was open."),
      .count("auto_renew_off", of: unit, "Active at close and set not to renew.", .closing),
      .isComplete,
    ], completeness: .settled)

  static let mrrMonthly = ReportDefinition(
    name: "mrr_monthly", query: PackageResources.mrr_monthly_sql,
    prepare: { try $0.makeMovementMonths() },
    columns: [.month] + ReportColumn.productKey + [
      .usd("mrr_open", "Monthly recurring revenue at the start of the month.", .opening),
      .usd("new", "Of subscriptions that paid for the first time."),
      .usd("first_seen", "Of subscriptions that began before their first paid period seen."),
      .usd("reactivated", "Of subscriptions that paid again after a lapse."),
      .usd("recovered", "Of subscriptions whose failed payment succeeded later."),
      .usd("resumed", "Of subscriptions that came back from a pause."),
      .usd("expansion", "Higher local price of the same product, positive."),
      .usd("contraction", "Lower local price of the same product, positive."),
      .usd("transfer_in", "Came from another product or currency."),
      .usd("churned", "Of subscriptions that ended, positive."),
      .usd("paused", "Of subscriptions that were paused, positive."),
      .usd("transfer_out", "Went to another product or currency, positive."),
      .usd("fx", "Same local price, other US dollars, and what rounding leaves; signed."),
      .usd(
        "mrr_close", "Monthly recurring revenue at the end of the month, or at as-of.", .closing),
      .usd("arr_close", "12 × mrr_close.", .closing),
      .isComplete,
    ],
    sums: [("fx", fx), ("arr_close", ["mrr_close": 12])], completeness: .settled)

  /// What the balances changed by, less all other movements.
  private static let fx = Movement.allCases.reduce(into: ["mrr_close": 1, "mrr_open": -1]) {
    if $1 != .fx, $1.revenueSign != 0 { $0[$1.name] = -Int($1.revenueSign) }
  }

  private static let unit = "subscriptions"

  private static let movements: [ReportColumn] = [
    .count("active_open", of: unit, "Active at the start of the month.", .opening),
    .count("new", of: unit, "First paid period."),
    .count("first_seen", of: unit, "First paid period seen of a subscription that began before."),
    .count("reactivated", of: unit, "Paid again after a lapse."),
    .count("recovered", of: unit, "Failed payment that succeeded within the retry horizon."),
    .count("resumed", of: unit, "Came back from a pause."),
    .count("transfer_in", of: unit, "Came from another product."),
    .count("churned", of: unit, "Ended without a charge, dated at the effective end."),
    .count("paused", of: unit, "Paused."),
    .count("transfer_out", of: unit, "Went to another product."),
    .count("active_close", of: unit, "Active at the end of the month, or at as-of.", .closing),
  ]

  private static let churnReasons: [ReportColumn] = [
    .count("churned_voluntary", of: unit, "Churned with auto-renew switched off before."),
    .count("churned_involuntary", of: unit, "Churned after a failed payment."),
    .count("churned_refund", of: unit, "Churned because a refund took access away."),
    .count("churned_price_increase", of: unit, "Churned without consent to a higher price."),
    .count("churned_developer", of: unit, "Churned because the product was withdrawn."),
    .count("churned_unknown", of: unit, "Churned without a known reason."),
  ]
}

// Columns of the reports about renewals, trials and cohorts.

extension ReportDefinition {
  static let renewalsMonthly = ReportDefinition(
    name: "renewals_monthly", query: PackageResources.renewals_monthly_sql,
    columns: [.month] + ReportColumn.productKey + [
      .key("renewal_ordinal", .integer, "Number of the renewal, first = 1; empty when unknown."),
      .count("renewals", of: "renewals", "Renewals charged."),
      .count("renewals_refunded", of: "renewals", "Renewals refunded, each at its first refund."),
      .isComplete,
    ], completeness: .settled)

  static let trialsMonthly = ReportDefinition(
    name: "trials_monthly", query: PackageResources.trials_monthly_sql,
    columns: [.month] + ReportColumn.productKey + [
      .count("started", of: "trials", "Trials that began: converted + expired + pending."),
      .count("converted", of: "trials", "Trials followed by a paid period."),
      .count("canceled", of: "trials", "Trials set not to renew, converted or not."),
      .count("expired", of: "trials", "Trials that ended without a paid period."),
      .count("pending", of: "trials", "Trials that can still convert."),
      .rate("conversion_rate", "converted / (converted + expired); empty if both are 0."),
      .isComplete,
    ], completeness: .ended)

  private static let cohort = ReportColumn.key(
    "cohort", .month, "Month of the first paid period.")

  static let retentionMonthly = ReportDefinition(
    name: "retention_monthly", query: PackageResources.retention_monthly_sql,
    columns: [cohort] + ReportColumn.productKey + [
      .key("period_index", .integer, "Months since the cohort's."),
      .count(
        "eligible", of: "subscriptions", "Size of the cohort, once the month has ended.",
        .atOneTime),
      .count("retained", of: "subscriptions", "Active at the end of the month.", .atOneTime),
      .usd("net_usd", "Net booked in the month; empty when unknown."),
      .isComplete,
    ], completeness: .settled)
}
