// Columns of the reports about booked money.
internal import EventStore

extension ReportDefinition {
  static let revenueDaily = ReportDefinition(
    name: "revenue_daily", query: PackageResources.revenue_sql, isSplitByMonth: true,
    columns: [.key("period", .day, "Day in the report's time zone.")] + revenueColumns,
    differences: revenueDifferences)

  static let revenueMonthly = ReportDefinition(
    name: "revenue_monthly", query: Array(monthlyRevenue.utf8),
    columns: [.month] + revenueColumns, differences: revenueDifferences, completeness: .booked)

  private static let monthlyRevenue = String(decoding: PackageResources.revenue_sql, as: UTF8.self)
    .replacing("revenue_cell", with: "revenue_month_cell")
    .replacing("cell.day", with: "cell.month").replacing("booked_day", with: "booked_month")

  private static let revenueDifferences: [(column: String, from: String, minus: String)] = [
    ("net_usd", "gross_usd", "refunds_usd"), ("commission_usd", "net_usd", "proceeds_usd"),
    ("net_local", "gross_local", "refunds_local"),
  ]

  private static let revenueColumns: [ReportColumn] =
    ReportColumn.productKey + [
      .key(
        "product_type", .word(.productType), "Whether the product renews: subscription or one_time."
      ),
      .key(
        "charge_kind", .word(.chargeKind),
        "Kind of the charge; for a refund, of its charge."),
      .key("country", .word(.symbol), "Country of the buyer; empty when absent."),
      .key("storefront", .word(.symbol), "Storefront of the store; empty when absent."),
      .key("currency", .word(.symbol), "ISO 4217 code of the local amounts; empty when absent."),
      .key(
        "proceeds_rate", .percent, in: "percent",
        "Share that stays after commission; empty when unknown."),
      .key("amount_basis", .word(.basis), "Source of the amounts: provider, price_book or none."),
      .count("charges", of: "charges", "Charges booked at their event time."),
      .count("refunds", of: "refunds", "Refunds booked at their event time."),
      .usd("gross_usd", "Charged before commission and refunds; empty when unknown."),
      .usd("refunds_usd", "Given back, positive; empty when unknown."),
      .usd("net_usd", "gross_usd − refunds_usd."),
      .usd("commission_usd", "net_usd − proceeds_usd."),
      .usd("proceeds_usd", "After commission, net of refunds, before tax."),
      .local("gross_local", "Charged before commission and refunds, in currency."),
      .local("refunds_local", "Given back, positive, in currency."),
      .local("net_local", "gross_local − refunds_local."),
      .local("proceeds_local", "After commission, net of refunds, before tax, in currency."),
      .isComplete,
    ]
}
