// Columns of the list of charges.

extension ReportDefinition {
  static let charges = ReportDefinition(
    name: "charges", query: nil, isSplitByMonth: true, namesPersons: true,
    dependsOnArrival: true,
    columns: [
      .key("booked_at", .instant, "Event time, at which the money is booked."),
      .provider, .app,
      .key("store", .word(.store), "Shop that took the money."),
      .key("transaction_id", .text, "Transaction of the store; empty when absent."),
      .key("kind", .text, "charge or refund."),
      .cell("charge_kind", .word(.chargeKind), "Kind of charge; of a refund, its charge's."),
      .key("product_id", .word(.symbol), "Product id of the store."),
      .cell("user_id", .text, "User as the app names it; empty when unknown."),
      .customer,
      .key("subscription_id", .text, "Original transaction id."),
      .cell("renewal_ordinal", .number, "Number of a renewal; of a refund, its charge's."),
      .cell("period_start", .instant, "Start of the paid time; empty without a period."),
      .cell("period_end", .instant, "End of the paid time; empty when unknown."),
      .cell("country", .word(.symbol), "Country of the buyer; empty when absent."),
      .cell("storefront", .word(.symbol), "Storefront of the store; empty when absent."),
      .cell("currency", .word(.symbol), "ISO 4217 code of the local amounts; empty when absent."),
      .cell("offer", .word(.symbol), "Offer at which it was bought; empty at full price."),
      .count("units", of: "units", "Quantity of the event."),
      .local("gross_local", "Before commission, in currency; of a refund negative."),
      .local("proceeds_local", "After commission, in currency; of a refund negative."),
      .usd("gross_usd", "Before commission; of a refund negative."),
      .usd("proceeds_usd", "After commission, before tax; of a refund negative."),
    ] + provenance)

  private static let provenance: [ReportColumn] = [
    .cell(
      "proceeds_rate", .percent, in: "percent",
      "Share that stays after commission; empty when unknown."),
    .cell("amount_basis", .word(.basis), "What amounts rest on: provider, price_book or none."),
    .cell("refund_of", .text, "Of a refund, its charge's transaction; empty if unknown."),
    .cell("versions", .number, "How many versions of the event arrived."),
    .cell("archive", .name, "Archive of the version that counts."),
    .cell("line", .number, "Its line there."),
    .cell("first_published_run", .number, "First run that reported the event."),
    .cell(
      "changed_in_run", .number,
      "Last run that brought a version of the event, or of the charge that it refunds."),
  ]
}
