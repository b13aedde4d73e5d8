// Columns of the reports about deliveries themselves.

extension ReportDefinition {
  static let deliveriesDaily = ReportDefinition(
    name: "deliveries_daily", query: PackageResources.deliveries_daily_sql, isSplitByMonth: true,
    tables: [.latencies, .fittingSchedules], dependsOnArrival: true,
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
    name: "outages", query: PackageResources.outages_sql, tables: [.fittingSchedules, .outages],
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
