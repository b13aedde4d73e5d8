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
      .cell("charge_kind", .word(.chargeKind), "Kind of the charge; for a refund, of its charge."),
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
