internal import EventStore

// Columns of the reports about booked money.

extension ReportDefinition {
  static let revenueDaily = ReportDefinition(
    name: "revenue_daily", query: PackageResources.revenue_sql, isSplitByMonth: true,
    columns: [.key("period", .day, "Day in the report's time zone.")] + revenueColumns,
    sums: revenueSums)

  static let revenueMonthly = ReportDefinition(
    name: "revenue_monthly", query: Array(monthlyRevenue.utf8),
    columns: [.month] + revenueColumns, sums: revenueSums, completeness: .booked)

  private static let monthlyRevenue = String(decoding: PackageResources.revenue_sql, as: UTF8.self)
    .replacing("revenue_cell", with: "revenue_month_cell")
    .replacing("cell.day", with: "cell.month").replacing("booked_day", with: "booked_month")

  private static let revenueSums = [
    ("net_usd", ["gross_usd": 1, "refunds_usd": -1]),
    ("commission_usd", ["net_usd": 1, "proceeds_usd": -1]),
    ("net_local", ["gross_local": 1, "refunds_local": -1]),
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

// Columns of the list of charges.

extension ReportDefinition {
  static let charges = ReportDefinition(
    name: "charges", query: nil, isSplitByMonth: true, namesPersons: true,
    dependsOnArrival: true,
    columns: [
      .key("booked_at", .instant, "Event time, at which the money is booked."),
      .provider, .app,
      .key("store", .word(.store), "Store that took the money."),
      .key("transaction_id", .text, "Transaction of the store; empty when absent."),
      .key("kind", .text, "charge or refund."),
      .key("charge_kind", .word(.chargeKind), "Kind of the charge; for a refund, of its charge."),
      .key("product_id", .word(.symbol), "Product id of the store."),
      .cell("user_id", .text, "User as the app names it; empty when unknown."),
      .customer,
      .key("subscription_id", .text, "Original transaction id."),
      .cell("renewal_ordinal", .number, "Number of the renewal; for a refund, of its charge."),
      .cell("period_start", .instant, "Start of the paid time; empty without a period."),
      .cell("period_end", .instant, "End of the paid time; empty when unknown."),
      .cell("country", .word(.symbol), "Country of the buyer; empty when absent."),
      .cell("storefront", .word(.symbol), "Storefront of the store; empty when absent."),
      .cell("currency", .word(.symbol), "ISO 4217 code of the local amounts; empty when absent."),
      .cell("offer", .word(.symbol), "Offer of the purchase; empty at full price."),
      .count("units", of: "units", "Quantity of the event."),
      .local("gross_local", "Before commission, in currency; negative for a refund."),
      .local("proceeds_local", "After commission, in currency; negative for a refund."),
      .usd("gross_usd", "Before commission; negative for a refund."),
      .usd("proceeds_usd", "After commission, before tax; negative for a refund."),
    ] + provenance)

  private static let provenance: [ReportColumn] = [
    .cell(
      "proceeds_rate", .percent, in: "percent",
      "Share that stays after commission; empty when unknown."),
    .cell("amount_basis", .word(.basis), "Source of the amounts: provider, price_book or none."),
    .cell("refund_of", .text, "For a refund, the transaction of its charge; empty if unknown."),
    .cell("versions", .number, "Number of versions of the event that arrived."),
    .cell("archive", .name, "Archive of the version that counts."),
    .cell("line", .number, "Line in that archive."),
    .cell("first_published_run", .number, "First run that reported the event."),
    .cell(
      "changed_in_run", .number,
      "Last run that read a version of the event, or of the charge that it refunds."),
  ]
}
