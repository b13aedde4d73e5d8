internal import Domain
internal import EventStore

// Columns of the reports about deliveries themselves.

extension ReportDefinition {
  static let deliveriesDaily = ReportDefinition(
    name: "deliveries_daily", query: PackageResources.deliveries_daily_sql, isSplitByMonth: true,
    prepare: { try $0.makeLatencies() }, dependsOnArrival: true,
    columns: [
      .key("day", .day, "UTC day of the delivery."),
      .provider,
      .key("kind", .word(.eventKind), "Kind of event."),
      .count("delivered", of: "deliveries", "All copies that arrived."),
      .count("distinct_events", of: "events", "Events that arrived for the first time."),
      .count("duplicates_exact", of: "deliveries", "Copies that are equal byte for byte."),
      .count("duplicates_semantic", of: "deliveries", "Copies with equal meaning."),
      .count("conflicts", of: "deliveries", "Copies that differ in meaning."),
      .count("out_of_order", of: "events", "Arrived after a later event of the subscription."),
      .count("late", of: "events", "Arrived later than the delivery window."),
    ] + attempts + percentiles + [
      .cell(
        "latency_max_s", .number, in: "seconds",
        "Longest from event to receipt; empty without receive times.")
    ])

  private static let attempts: [ReportColumn] =
    (1...6).map { number in
      .count(
        "attempt_\(number)", of: "deliveries",
        "Arrived at attempt \(number) of the retry schedule; empty without receive times.")
    } + [
      .count(
        "attempt_unknown", of: "deliveries",
        "delivered − attempt_1 … attempt_6; empty without receive times.")
    ]

  private static let percentiles: [ReportColumn] = [
    ("latency_p50_s", "Median"), ("latency_p95_s", "95th percentile"),
    ("latency_p99_s", "99th percentile"),
  ].map { name, word in
    .cell(
      name, .latency, in: "seconds",
      "\(word) from event to receipt, at most 1.6 % too low; empty without "
        + "receive times.")
  }

  static let outages = ReportDefinition(
    name: "outages", query: PackageResources.outages_sql,
    prepare: { try $0.makeOutages() },
    columns: [
      .key("from", .instant, "First attempt that must have failed."),
      .key("to", .instant, "Last attempt that must have failed."),
      .key("provider", .text, "Who could not deliver."),
      .count("deliveries_delayed", of: "deliveries", "First attempts that must have failed."),
      .count(
        "deliveries_lost", of: "events",
        "Missed for good, expected between last_taken_at and next_taken_at."),
      .cell("last_taken_at", .instant, "Last receipt before; empty when there is none."),
      .cell("next_taken_at", .instant, "First receipt after; empty when there is none."),
    ])
}

// The columns and rows of the report that lists which numbers are reliable.

extension ReportDefinition {
  static let coverage = ReportDefinition(
    name: "coverage", query: PackageResources.coverage_sql,
    prepare: { try $0.makeCoverage() },
    columns: [
      .key("provider", .text, "Who sent the webhooks."),
      .key("app_id", .printed, "App as the provider names it; empty when absent."),
      .key("metric", .text, "Group of report columns, such as refunds or mrr."),
      .cell("coverage", .text, "measured, estimated, or not_available."),
      .count("events", of: "events", "Events estimated or missing; empty when unknown."),
      .cell("why", .text, "Basis of the metric, or what is missing."),
    ])
}

extension ReportContext {
  /// Creates a statement for every metric of every feed.
  func makeCoverage() throws {
    try table("coverage_row", "provider, app, metric text, coverage text, events, why text")
    let query = String(decoding: PackageResources.coverage_counts_sql, as: UTF8.self)
    try ledger.rows(sql: query) { row in
      let (provider, counts) = (try row.provider(0), CoverageCounts(row))
      for metric in CoverageMetric.allCases {
        let statement = counts.statement(metric, provider)
        try insert(
          "coverage_row", .integer(row.number(0)), .integer(row.number(1)),
          .text(metric.rawValue), .text(statement.coverage.rawValue),
          statement.events.map(LedgerValue.integer) ?? .null, .text(statement.why))
      }
    }
  }
}
