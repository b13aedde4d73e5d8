// Columns of the reports about breaks.

extension ReportDefinition {
  static let breaks = ReportDefinition(
    name: "breaks", query: PackageResources.breaks_sql, namesPersons: true,
    dependsOnArrival: true,
    columns: [
      .key("break_id", .text, "Stable across runs."),
      .cell("code", .text, "Kind of difference."),
      .cell("status", .text, "pending, open, reopened, or resolved at this as-of."),
    ] + subject + [
      .cell("first_seen_at", .instant, "As-of of the run that first saw the break."),
      .cell("last_seen_at", .instant, "As-of of the last run that saw the break."),
      .cell(
        "age_days", .number, in: "days",
        "Whole days from expected_at to as-of; empty without expected_at."),
      .cell("settles_at", .instant, "When the provider can no longer deliver."),
      .cell("evidence_expires_at", .instant, "When the provider deletes the evidence."),
    ] + money + [
      .cell("evidence", .text, "The facts on both sides."),
      .cell("action", .text, "What to do next."),
      .customer,
    ])

  static let breaksHistory = ReportDefinition(
    name: "breaks_history", query: PackageResources.breaks_history_sql, namesPersons: true,
    dependsOnArrival: true,
    columns: [
      .key("break_id", .text, "Stable across runs."),
      .key("episode", .integer, in: "episodes", "Number of the episode, from 1."),
      .cell("code", .text, "Kind of difference."),
      .cell(
        "status", .text, "pending, open, reopened, resolved, explained or written_off."),
    ] + subject + [
      .cell("first_seen_at", .instant, "Earliest as-of of the runs that saw the episode."),
      .cell("last_seen_at", .instant, "Latest as-of of the runs that saw the episode."),
      .cell("resolved_at", .instant, "As-of of the run that resolved it; empty until then."),
      .cell("resolved_by_run", .number, "Run whose input explained it; empty until then."),
    ] + money + [
      .cell("decision", .text, "explained or written_off by a decision; else empty."),
      .cell("reason", .text, "Reason in the decisions file."),
      .cell("who", .text, "Who decided, from the decisions file."),
    ])

  static let refetchWorklist = ReportDefinition(
    name: "refetch_worklist", query: PackageResources.refetch_worklist_sql,
    prepare: { try $0.makeFetches() }, namesPersons: true,
    columns: [
      .key(
        "priority", .integer, in: "rank",
        "1 is first: rows that can still be fetched, by hours left, then by money."),
      .cell("provider", .text, "Provider to ask."),
      .cell("app_id", .text, "App as the provider names it; empty when absent."),
      .cell("environment", .text, "production or sandbox."),
      .cell("store", .text, "Store that took the money."),
      .cell("user_id", .text, "User as the app names it; empty when unknown."),
      .cell("subscription_id", .text, "Original transaction id; empty when none is known."),
      .count("breaks", of: "breaks", "Open breaks that the answer may explain."),
      .count("missing_events", of: "events", "Events that never arrived."),
      .usd("at_stake_usd", "Their known amounts, without sign; empty if none is known."),
      .cell("first_expected_at", .instant, "Business time of the first one."),
      .cell("last_expected_at", .instant, "Business time of the last one."),
      .cell("evidence_expires_at", .instant, "When the provider next deletes evidence."),
      .cell(
        "hours_left", .number, in: "hours",
        "Whole hours from as-of until then; 0 if it is past, empty if unknown."),
      .cell("method", .text, "HTTP method; empty if the provider has no API."),
      .cell("host", .text, "Host to call by https."),
      .cell("path", .text, "Path to call, with ids encoded for a URL."),
      .cell("note", .text, "How to authorize, or what to do without an API."),
      .cell("break_ids", .text, "Ids of the breaks, separated by spaces."),
      .customer,
      .cell(
        "fetched_at", .instant,
        "Capture of the newest snapshot after the breaks settled; empty without one."),
    ])

  private static let subject: [ReportColumn] = [
    .cell("severity", .text, "info, low, medium, high or critical."),
    .cell("provider", .text, "Who sent the webhooks."),
    .cell("app_id", .text, "App as the provider names it; empty when absent."),
    .cell("environment", .text, "production or sandbox."),
    .cell("store", .text, "Store that took the money."),
    .cell("user_id", .text, "User as the app names it; empty when unknown."),
    .cell("subscription_id", .text, "Original transaction id."),
    .cell("transaction_id", .text, "Transaction in question; empty when none is named."),
    .cell("product_id", .text, "Product id of the store."),
    .cell("expected_at", .instant, "Business time of the event that is missing or in doubt."),
  ]

  private static let money: [ReportColumn] = [
    .count("missing_events", of: "events", "Number of events that never arrived."),
    .usd("estimated_usd", "Gross of the missing events; empty without a known price."),
    .cell("amount_basis", .text, "Basis of the estimate."),
  ]
}
