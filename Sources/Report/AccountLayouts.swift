// Columns of the reports about what came in and what does not agree.

extension Layout {
  static let qualityMonthly = Layout(
    name: "quality_monthly", query: PackageResources.quality_monthly_sql,
    columns: [.month] + Column.offeringAsText + [
      .count("open_breaks", of: "breaks", "Differences that no later delivery will explain."),
      .count("missing_events", of: "events", "Events that never came, in no other report."),
      .usd("missing_usd", "Estimated gross of the missing events; empty when unknown."),
      .count("churned_in_doubt", of: "subscriptions", "Churned whose end a MISSED break covers."),
    ])

  static let excludedMonthly = Layout(
    name: "excluded_monthly", query: PackageResources.excluded_monthly_sql,
    columns: [
      .month,
      .provider, .app,
      .key(
        "reason", .word(.exclusion), "Why no money is booked: sandbox, family_sharing or manual."),
      .count("events", of: "events", "Events left out."),
      .count("charges", of: "charges", "Charges among them."),
    ])

  /// Kept for programs that read it: a header alone until published numbers are kept.
  static let restatements = Layout(
    name: "restatements", query: nil,
    columns: [
      .key("report", .text, "Report whose published number changed."),
      .key("period", .text, "Period of the row."),
      .key("key", .text, "Other key columns of the row."),
      .key("column", .text, "Column that changed."),
      .cell("published", .text, "Value last published as complete."),
      .cell("restated", .text, "Value now."),
      .cell("delta", .text, "restated − published."),
      .cell("cause", .text, "Why it changed."),
      Column(
        name: "published_by_run", format: .integer, description: "Run that published it."),
    ])

  static let inputs = Layout(
    name: "inputs", query: PackageResources.inputs_sql,
    columns: [
      .key("archive", .name, "Path relative to the given root."),
      .key("sha256", .text, "SHA-256 of the archive's bytes."),
      .count("bytes", of: "bytes", "Size of the archive as delivered."),
      .count("lines", of: "lines", "accepted + duplicates + skipped + rejected."),
      .count("accepted", of: "lines", "Brought a new event or a new version of one."),
      .count("duplicates", of: "lines", "Brought only what was known."),
      .count("skipped", of: "lines", "Known not to be purchase events."),
      .count("rejected", of: "lines", "Could not be understood; see rejects.csv."),
      .cell("first_event_at", .instant, "Earliest event time in the archive."),
      .cell("last_event_at", .instant, "Latest event time in the archive."),
      .cell("status", .text, "complete, damaged, or repeated under another name."),
    ])

  static let rejects = Layout(
    name: "rejects", query: PackageResources.rejects_sql,
    columns: [
      .key("archive", .name, "Path relative to the given root."),
      Column(
        name: "line", format: .integer, unit: "lines",
        description: "Physical line, from 1.", isKey: true),
      Column(
        name: "byte_offset", format: .integer, unit: "bytes",
        description: "Where the value begins in the inflated archive, from 0.", isKey: true),
      .cell("reason", .text, "What was wrong, as one of a few words."),
      .cell("detail", .text, "What was wrong, without any content of the line."),
    ])
}
