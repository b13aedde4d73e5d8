public import Domain
public import EventStore

/// The description of a published report set, in `datapackage.json`.
///
/// It must not depend on the clock, the machine or a path of the run: the same inputs, options and
/// version give the same bytes.
public struct Manifest: Sendable {
  /// The program's version.
  public var version: String
  /// Business time of the reports.
  public var asOf: Instant
  /// IANA name of the time zone for days and months.
  public var timeZone: String
  /// Line end and byte order mark of the CSV files.
  public var dialect = CSVDialect.rfc4180
  /// Every option that affects the numbers, by name.
  public var options: [String: JSONValue] = [:]
  /// The archives that the numbers are computed from.
  public var inputs: [ArchiveRecord] = []
  /// The newest input of each provider and app, sorted by both.
  public var watermarks: [JSONValue] = []
  /// Counts that a reader should know, by name, such as `rounded_amounts`.
  public var counts: [String: Int64] = [:]
  /// Reservations about the numbers; empty when there are none.
  public var qualifications: [String] = []
  /// The reports, in any order.
  public var resources: [ReportTable] = []

  /// A manifest without inputs and reports.
  public init(version: String, asOf: Instant, timeZone: String) {
    self.version = version
    self.asOf = asOf
    self.timeZone = timeZone
  }
}

/// An option that affects the numbers, by its name in `datapackage.json` and a run's record.
public enum EffectiveOption: String, CaseIterable, Sendable {
  case asOf = "as_of"
  case timezone
  case csvDialect = "csv_dialect"
  case amountDecimals = "amount_decimals"
  case locale
  case xlsx
  case renewalGap = "renewal_gap_s"
  case retryHorizon = "retry_horizon_s"
  case freshnessMax = "freshness_max_s"
  case historyBegins = "history_begins"
  case doubleCharges = "double_charges"
  case authority
  case deliveryWindow = "delivery_window_s"
  case deliveryRetries = "delivery_retries_s"
  case snapshotsComplete = "snapshots_complete"
  case snapshotsFromWebhooks = "snapshots_from_webhooks"
  case rejectedShare = "rejected_share"
  case materiality
  case breaks
  case decisions
  /// SHA-256 of the custom reports, by name.
  case reports
  case valueBytes = "value_bytes"
  case products
  case periods
  case eventNames = "event_names"
  case authenticated
  case pricesSHA256 = "prices_sha256"
  case version
}
