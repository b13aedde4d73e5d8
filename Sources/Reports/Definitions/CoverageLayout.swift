// The columns and rows of the report that lists which numbers are reliable.
internal import EventStore
internal import Domain

extension ReportDefinition {
  static let coverage = ReportDefinition(
    name: "coverage", query: PackageResources.coverage_sql, tables: [.coverage],
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
    var feeds: [(provider: Provider, app: Int64, counts: CoverageCounts)] = []
    let query = String(decoding: PackageResources.coverage_counts_sql, as: UTF8.self)
    try ledger.rows(sql: query) { row in
      feeds.append((try row.provider(0), row.number(1), CoverageCounts(row)))
    }
    let hasOthers = Set(feeds.map(\.provider)).count > 1
    for (provider, app, counts) in feeds {
      var counts = counts
      counts.hasOtherProviders = hasOthers
      for metric in CoverageMetric.allCases {
        let statement = counts.statement(metric, provider)
        try insert(
          "coverage_row", .integer(Int64(provider.rawValue)), .integer(app),
          .text(metric.rawValue), .text(statement.coverage.rawValue),
          statement.events.map(LedgerValue.integer) ?? .null, .text(statement.why))
      }
    }
  }

  /// Lists which refunds each provider sends; their cells stay empty where it sends none.
  func makeCapabilities() throws {
    try table(
      "provider_capability",
      """
      provider integer, product_type integer, refunds integer, primary key (provider, product_type)
      """, options: "without rowid")
    for provider in Provider.allCases {
      for type in ProductType.allCases {
        try insert(
          "provider_capability", .integer(Int64(provider.rawValue)),
          .integer(Int64(type.rawValue)),
          .integer(provider.capabilities.sendsRefunds(of: type) ? 1 : 0))
      }
    }
  }
}
