// The views that `subledger sql` and custom reports can query.

/// A documented view; the meaning of its columns never changes.
public struct ViewDefinition: Sendable {
  /// The view's name, such as `v_charge`.
  public let name: String
  /// One line that describes a row.
  public let description: String
  /// The columns in order; each amount has a second column in millionths.
  public let columns: [ReportColumn]
  /// Whether the ledger stores its rows packed, so that readers create a temporary table of them.
  public let isPacked: Bool

  private init(
    _ name: String, _ description: String, isPacked: Bool = false, _ columns: [ReportColumn]
  ) {
    (self.name, self.description, self.isPacked) = (name, description, isPacked)
    self.columns = columns.flatMap { column in
      guard column.isMoney else { return [column] }
      return [
        column,
        ReportColumn(
          name: column.name + "_micros", format: .integer, unit: column.unit,
          description: "The same in millionths.", addition: column.addition),
      ]
    }
  }

  /// Every view.
  public static let all = [
    ViewDefinition("v_event", "An event that was received, once.", isPacked: true, event),
    ViewDefinition(
      "v_charge", "A charge or a refund, as in charges.", isPacked: true,
      [.key("period", .day, "Day of booked_at in the report's time zone.")]
        + ReportDefinition.charges.columns),
    ViewDefinition("v_period", "A trial or a paid period that counts.", isPacked: true, period),
    ViewDefinition(
      "v_snapshot", "An entitlement in the newest snapshot of a user, or that there is none.",
      isPacked: true, snapshot),
    ViewDefinition(
      "v_movement", "What moved active subscriptions and recurring revenue in a month.",
      [.month] + ReportColumn.productKey + [
        .key("movement", .text, "The column of churn_monthly or mrr_monthly that it adds to."),
        .count("subscriptions", of: "subscriptions", "How many; 0 where only prices moved."),
        .usd("mrr_usd", "Monthly recurring revenue that moved."),
      ]),
    ViewDefinition(
      "v_break", "A break, once for each episode, as in breaks_history.",
      ReportDefinition.breaksHistory.columns),
    ViewDefinition(
      "v_revenue_daily", "Revenue of a day, as in revenue_daily.",
      ReportDefinition.revenueDaily.columns.filter { $0.name != ReportColumn.isComplete.name }),
  ]

  private static let place: [ReportColumn] = [
    .cell("archive", .name, "Archive it is from."), .cell("line", .number, "Line in that archive."),
  ]

  private static let event: [ReportColumn] =
    [
      .cell("event_at", .instant, "Business time."),
      .cell("created_at", .instant, "When its message was made."),
      .cell("received_at", .instant, "When it was received."),
      .cell("kind", .text, "What happened, as in docs/providers.md."),
    ] + subscription + [
      .cell("transaction_id", .text, "Transaction of the store."),
      .cell("product_id", .text, "Product id of the store."),
      .cell("country", .text, "Country of the buyer."),
      .cell("currency", .text, "ISO 4217 code of sent_local."),
      .local("sent_local", "As sent: the price or, if is_proceed, what stays of it."),
      .usd("sent_usd", "As sent: the price or, if is_proceed, what stays of it."),
      .cell("is_proceed", .flag, "Whether the amounts are proceeds."),
    ] + place

  private static let subscription: [ReportColumn] = [
    .cell("provider", .text, "Who sent the webhooks."),
    .cell("app_id", .text, "App as the provider names it."),
    .cell("environment", .text, "production or sandbox."),
    .cell("store", .text, "Store that took the money."),
    .cell("user_id", .text, "User as the app names it."),
    .cell("subscription_id", .text, "Original transaction id."),
  ]

  private static let period: [ReportColumn] =
    [.cell("kind", .text, "trial or paid."), .cell("starts_at", .instant, "Its start.")]
    + subscription + [
      .cell("product_id", .text, "Product id of the store."),
      .cell("ends_at", .instant, "Its end without grace; null when unknown."),
      .cell("is_end_derived", .flag, "Whether only the product's length says so."),
      .cell("grace_until", .instant, "End of its grace; null without."),
      .cell("revoked_at", .instant, "When access was taken away; null when it was not."),
    ]

  private static let snapshot: [ReportColumn] =
    [
      .cell("captured_at", .instant, "When it was true."),
      .cell("provider", .text, "Who keeps the entitlement."),
      .cell("app_id", .text, "App as the provider names it."),
      .cell("user_id", .text, "User as the app names it."),
      .cell("entitlement_id", .text, "The entitlement; empty when the user has none."),
      .cell("product_id", .text, "Product id of the store."),
      .cell("store", .text, "Store that took the money."),
      .cell("is_active", .flag, "Whether it gives access; null when it does not say."),
      .cell("is_trial", .flag, "Whether it is a trial; null when it does not say."),
      .cell("started_at", .instant, "Its start."), .cell("expires_at", .instant, "Its end."),
    ] + place
}

extension ReportColumn {
  /// Whether it holds money, which the views also return in millionths.
  public var isMoney: Bool { type == "number" && ["USD", "currency"].contains(unit) }
}
