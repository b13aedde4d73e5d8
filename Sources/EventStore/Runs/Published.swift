public import Domain

/// The changes of a run to the rows of a monthly report, named without `.csv`, for one month: the
/// digest of the complete rows as 64 hexadecimal digits, and the new, changed and removed rows.
public typealias PublishedVersion = (
  report: String, month: Month, sha256: String, rows: [PublishedRow]
)

/// A version of a row, valid until the next version of its key, which is encoded.
///
/// The row is nil if it was removed; the cause is why a published number changed, nil if none did.
public typealias PublishedRow = (key: [UInt8], row: ReportRow?, cause: String?)

/// The horizon up to which a report's rows are complete, named by the start of its column's name.
public enum HorizonKind: String, Sendable, CaseIterable {
  /// Money.
  case booked
  /// Subscriptions.
  case settled
  /// Trials.
  case ended
}

/// The publication of a run, with which later runs compare.
public struct NewPublication: Sendable {
  /// Time zone of days and months.
  public var zone: String
  /// The first incomplete month of each feed.
  public var horizons: [Feed: [HorizonKind: Month]] = [:]
  /// Months of reports with new, changed or removed rows.
  public var versions: [PublishedVersion] = []
  /// Number of rows of each month in the monthly reports, and of those that can still change.
  public var months: [Month: (count: Int64, incomplete: Int64)] = [:]

  /// Creates a publication without rows.
  public init(zone: String) { self.zone = zone }
}

extension Ledger {
  func keep(_ publication: NewPublication, _ run: Int64, in database: Connection) throws {
    try database.run(
      """
      insert into publication (run, zone, last_archive)
      select ?, ?, coalesce((select max(id) from archive), 0)
      """, run, publication.zone)
    for (feed, months) in publication.horizons {
      try database.run(
        """
        insert into published_horizon (
          run, provider, app, booked_month, settled_month, ended_month)
        values (?, ?, ?, ?, ?, ?)
        """, run, feed.provider, feed.app, months[.booked], months[.settled], months[.ended])
    }
    try database.run("delete from published_month where zone = ?", publication.zone)
    for (month, rows) in publication.months.sorted(by: { $0.key < $1.key }) {
      try database.run(
        """
        insert into published_month (zone, period, run, row_count, incomplete_rows)
        values (?, ?, ?, ?, ?)
        """, publication.zone, month, run, rows.count, rows.incomplete)
    }
    for version in publication.versions {
      try keep(version, publication.zone, run, in: database)
    }
  }

  private func keep(
    _ version: PublishedVersion, _ zone: String, _ run: Int64, in database: Connection
  ) throws {
    let id = try database.first(
      """
      insert into published (run, report, zone, period, sha256) values (?, ?, ?, ?, ?)
      returning id
      """, run, version.report, zone, version.month, version.sha256
    ) { $0.int64(0) }
    let insert = try database.statement(
      """
      insert into published_row (version, key, row_values, is_complete, cause)
      values (?, ?, ?, ?, ?)
      """)
    for row in version.rows.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      try insert.run(id, row.key, row.row?.values, row.row?.isComplete == true ? 1 : 0, row.cause)
    }
  }

  /// Returns the digest of the newest version before `run` of each month of a report.
  public func publishedHashes(
    of report: String, zone: String, before run: Int64
  ) throws(SubledgerError) -> [Month: String] {
    let hashes = try all(
      "read published rows",
      """
      select period, sha256, max(run) from published
      where report = ? and zone = ? and run < ? group by period
      """, report, zone, run
    ) { ($0.month(0), $0.text(1)) }
    return Dictionary(uniqueKeysWithValues: hashes)
  }

  /// Returns the rows of a month before `run`, with the run that published each version, by key.
  public func publishedRows(
    of report: String, zone: String, month: Month, before run: Int64
  ) throws(SubledgerError) -> [[UInt8]: (row: ReportRow, run: Int64)] {
    // With `max`, SQLite takes the other columns from the same row.
    let rows = try all(
      "read published rows",
      """
      select row.key, row.row_values, row.is_complete, max(version.run)
      from published as version
      join published_row as row on row.version = version.id
      where version.report = ? and version.zone = ? and version.period = ? and version.run < ?
      group by row.key having row.row_values is not null
      """, report, zone, month, run
    ) { row in
      let version = ReportRow(
        key: Array(row.blob(0)), values: Array(row.blob(1)), isComplete: row.int64(2) != 0)
      return (version.key, (row: version, run: row.int64(3)))
    }
    return Dictionary(uniqueKeysWithValues: rows)
  }

  /// Returns why runs after `run` and before `end` restated rows of one month, by key.
  public func restatementCauses(
    of report: String, zone: String, month: Month, after run: Int64, before end: Int64
  ) throws(SubledgerError) -> [(key: [UInt8], cause: String)] {
    try all(
      "read published rows",
      """
      select row.key, row.cause from published as version
      join published_row as row on row.version = version.id
      where version.report = ? and version.zone = ? and version.period = ?
        and version.run > ? and version.run < ? and row.cause is not null
      """, report, zone, month, run, end
    ) { (key: Array($0.blob(0)), cause: $0.text(1)) }
  }
}
