public import Domain

/// The description of a published report set, in `datapackage.json`.
///
/// Nothing in it may come from the clock, the machine or a path of the run: the same inputs,
/// options and version give the same bytes.
public struct Manifest: Sendable {
  /// The program's version.
  public var version: String
  /// Business time of the reports.
  public var asOf: Instant
  /// IANA name of the zone of days and months.
  public var timeZone: String
  /// Line end and byte order mark of the CSV files.
  public var dialect = CSVDialect.rfc4180
  /// Every option that has an effect on the numbers, by name.
  public var options: [String: JSONValue] = [:]
  /// The archives that the numbers rest on.
  public var inputs: [ManifestInput] = []
  /// The newest input of each provider and app.
  public var watermarks: [ManifestWatermark] = []
  /// What a reader should know in numbers, by name, such as `rounded_amounts`.
  public var counts: [String: Int64] = [:]
  /// Why the numbers hold with reservations only; empty when they hold.
  public var qualifications: [String] = []
  /// The reports, in any order.
  public var resources: [ManifestResource] = []

  /// A manifest without inputs and reports yet.
  public init(version: String, asOf: Instant, timeZone: String) {
    self.version = version
    self.asOf = asOf
    self.timeZone = timeZone
  }
}

/// One archive or snapshot file that went into the numbers.
public struct ManifestInput: Sendable, Equatable {
  /// Path relative to the given root.
  public var archive: String
  /// SHA-256 of the file's bytes, 64 hexadecimal digits.
  public var sha256: String
  /// `events` or `snapshots`.
  public var kind = "events"
  /// JSON values in it: accepted + duplicates + skipped + rejected.
  public var lines: Int64 = 0
  /// Lines that brought a new event or a new version of one.
  public var accepted: Int64 = 0
  /// Lines that brought nothing new.
  public var duplicates: Int64 = 0
  /// Lines known not to be purchase events.
  public var skipped: Int64 = 0
  /// Lines that could not be understood.
  public var rejected: Int64 = 0
  /// `complete`, `damaged` or `repeated`.
  public var status = "complete"

  /// An input without lines yet.
  public init(archive: String, sha256: String) {
    self.archive = archive
    self.sha256 = sha256
  }
}

/// How far the input of one provider and app reaches.
public struct ManifestWatermark: Sendable, Equatable {
  /// The provider's word.
  public var provider: String
  /// App id, empty when unknown.
  public var app: String
  /// Newest received, else created, else event time.
  public var newest: Instant
  /// What the feed's messages need besides the delivery window.
  public var creationLag: Interval

  /// The newest input of `app` at `provider`.
  public init(provider: String, app: String, newest: Instant, creationLag: Interval) {
    self.provider = provider
    self.app = app
    self.newest = newest
    self.creationLag = creationLag
  }
}

/// One CSV file of the set.
public struct ManifestResource: Sendable, Equatable {
  /// Path inside the set, such as `revenue_daily/2026-11.csv`.
  public var path: String
  /// Rows without the header.
  public var rows: Int64
  /// The columns in their order.
  public var fields: [ManifestField]
  /// Sums over each column of counts and amounts as printed, by column; of those that do not add
  /// up, they only show whether the file is whole.
  public var controlTotals: [String: String] = [:]
  /// Exact sum − printed sum of each amount column, when printed amounts are rounded.
  public var roundingResidual: [String: String] = [:]

  /// A file of `rows` rows.
  public init(path: String, rows: Int64, fields: [ManifestField]) {
    self.path = path
    self.rows = rows
    self.fields = fields
  }
}

/// One column of a CSV file.
public struct ManifestField: Sendable, Equatable {
  /// The header's word.
  public var name: String
  /// A type of Frictionless Table Schema, such as `integer`.
  public var type: String
  /// The unit of the numbers, such as `USD`; nil for words and dates.
  public var unit: String?
  /// One line how to read it.
  public var description: String
  /// Whether the column is part of the primary key.
  public var isKey: Bool
  /// Whether the sum over all rows has a meaning.
  public var addsUp = true

  /// A column of a report, which adds up.
  public init(name: String, type: String, unit: String?, description: String, isKey: Bool) {
    self.name = name
    self.type = type
    self.unit = unit
    self.description = description
    self.isKey = isKey
  }
}
