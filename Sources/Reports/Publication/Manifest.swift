public import Domain
public import EventStore

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
  public var inputs: [ArchiveRecord] = []
  /// The newest input of each provider and app, in their order.
  public var watermarks: [JSONValue] = []
  /// What a reader should know in numbers, by name, such as `rounded_amounts`.
  public var counts: [String: Int64] = [:]
  /// Why the numbers hold with reservations only; empty when they hold.
  public var qualifications: [String] = []
  /// The reports, in any order.
  public var resources: [ReportTable] = []

  /// A manifest without inputs and reports yet.
  public init(version: String, asOf: Instant, timeZone: String) {
    self.version = version
    self.asOf = asOf
    self.timeZone = timeZone
  }
}
