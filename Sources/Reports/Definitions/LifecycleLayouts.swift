// Columns of the reports about renewals, trials and cohorts.
internal import EventStore

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
