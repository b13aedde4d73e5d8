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
