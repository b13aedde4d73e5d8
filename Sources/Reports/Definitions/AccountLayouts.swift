// Columns of the reports about input and breaks.

extension ReportDefinition {
  static let qualityMonthly = ReportDefinition(
    name: "quality_monthly", query: PackageResources.quality_monthly_sql,
    columns: [.month] + ReportColumn.offeringAsText + [
      .count("open_breaks", of: "breaks", "Differences that no later delivery should explain."),
      .count("missing_events", of: "events", "Events that never arrived, in no other report."),
      .usd("missing_usd", "Estimated gross of missing events; empty if unknown."),
      .count(
        "churned_in_doubt", of: "subscriptions", "Churned, but a MISSED break puts it in doubt."),
    ])

  static let excludedMonthly = ReportDefinition(
    name: "excluded_monthly", query: PackageResources.excluded_monthly_sql,
    columns: [
      .month,
      .provider, .app,
      .key(
        "reason", .word(.exclusion), "Why no money is booked: one of a few words."),
      .count("events", of: "events", "Excluded events."),
      .count("charges", of: "charges", "Charges among these events."),
    ])

  static let overlap = ReportDefinition(
    name: "overlap", query: PackageResources.overlap_sql, namesPersons: true,
    columns: [
      .key("store", .text, "Store that took the money."),
      .key("transaction_id", .text, "Transaction id of the store."),
      .key("counted_provider", .text, "Provider whose charge counts."),
      .key("other_provider", .text, "Provider that reports it, too."),
      .cell("subscription_id", .text, "Original transaction id of the counted subscription."),
      .usd("counted_usd", "Gross of the counted charge; empty when unknown."),
      .usd("other_usd", "Gross of the other; empty when unknown."),
      .usd("difference", "counted_usd − other_usd; empty when one of them is unknown."),
    ])

  /// Assembled from the parts that the monthly reports write.
  static let restatements = ReportDefinition(
    name: "restatements", query: nil, dependsOnArrival: true,
    columns: [
      .key("report", .text, "Report with the changed number."),
      .key("period", .month, "Month of the number."),
      .key("key", .printed, "Other key columns of the row, joined by commas."),
      .key("column", .text, "Column that changed."),
      .cell(
        "published", .numeral, "Number closed, or last published as complete; 0 without a row."),
      .cell("restated", .numeral, "Number now; 0 when the row is gone."),
      .cell("delta", .numeral, "restated − published; empty when one of them is unknown."),
      .cell("cause", .text, "Why it changed: one of a few words."),
      .cell("published_by_run", .number, "Run that published or closed the number."),
    ])

  static let unknownInput = ReportDefinition(
    name: "unknown_input", query: PackageResources.unknown_input_sql, namesPersons: true,
    dependsOnArrival: true,
    columns: [
      .key("provider", .text, "Who sent the webhooks."),
      .key("what", .text, "Kind of name: event_name, member, platform or store."),
      .key("name", .text, "Its name; (withheld) where it may be an id, (more) beyond 200."),
      .count("lines", of: "lines", "Lines that contain it."),
      .cell("first_archive", .name, "The first archive that contains it, by path."),
      .cell("first_line", .integer, in: "lines", "The first line there that contains it, from 1."),
    ])

  static let inputs = ReportDefinition(
    name: "inputs", query: PackageResources.inputs_sql, namesPersons: true, dependsOnArrival: true,
    columns: [
      .key("archive", .name, "Path relative to the given root."),
      .key("sha256", .text, "SHA-256 of the archive's bytes."),
      .count("bytes", of: "bytes", "Size of the archive as delivered."),
      .count("lines", of: "lines", "accepted + duplicates + skipped + rejected."),
      .count("accepted", of: "lines", "Lines with a new event or a new version of one."),
      .count("duplicates", of: "lines", "Lines without anything new."),
      .count("skipped", of: "lines", "Lines that are known not to be purchase events."),
      .count("rejected", of: "lines", "Lines that could not be understood; see rejects.csv."),
      .cell("first_event_at", .instant, "Earliest event time in the archive."),
      .cell("last_event_at", .instant, "Latest event time in the archive."),
      .cell("status", .text, "complete, damaged, or repeated under another name."),
      .count("retracted", of: "lines", "Skipped lines that were retracted."),
    ])

  static let drill = ReportDefinition(
    name: "drill", query: PackageResources.drill_sql, dependsOnArrival: true,
    columns: [
      .key("code", .text, "Code of a break, or duplicate."),
      .count("injected", of: "events", "Damaged events that the code must show."),
      .count("found", of: "events", "Injected events that it shows."),
      .count("renamed", of: "events", "Of found: losses that another MISSED code names."),
      .count("missed", of: "events", "Not shown, although the data could show them."),
      .count("unrevealed", of: "events", "Not shown, because nothing in the data could show them."),
      .count("false", of: "breaks", "Breaks shown where nothing was damaged."),
      .rate("recall", "found / (found + missed); empty if both are 0."),
      .rate("precision", "found / (found + false); empty if both are 0."),
      .cell("as_of", .instant, "Business time of the drill."),
    ])

  static let rejects = ReportDefinition(
    name: "rejects", query: PackageResources.rejects_sql, namesPersons: true,
    dependsOnArrival: true,
    columns: [
      .key("archive", .name, "Path relative to the given root."),
      .key("line", .integer, in: "lines", "Physical line, from 1."),
      .key(
        "byte_offset", .integer, in: "bytes",
        "Where the value begins in the inflated archive, from 0."),
      .cell("reason", .text, "Reason of the rejection: one of a few words."),
      .cell("detail", .text, "What is wrong, without content of the line."),
    ])
}
