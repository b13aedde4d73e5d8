public import Domain

/// The complete rows of a monthly report for one month, as a run publishes them.
public struct PublishedRows: Sendable, Equatable {
  /// Name of the report without `.csv`.
  public let report: String
  /// The month that the numbers speak of.
  public let month: Month
  /// Of the rows, as 64 hex digits.
  public let sha256: String
  let rows: [UInt8]
  let causes: [UInt8]

  /// A version of the rows; `rows` and `causes` are CSV without header.
  public init(report: String, month: Month, sha256: String, rows: [UInt8], causes: [UInt8]) {
    self.report = report
    self.month = month
    self.sha256 = sha256
    // Packed at once, because a first publication holds all months until it is written.
    self.rows = Gzip.compress(rows)
    self.causes = Gzip.compress(causes)
  }
}

/// How far the rows of a feed are complete: all months before these.
public struct PublishedHorizon: Sendable, Equatable {
  /// Who delivers.
  public let feed: Feed
  /// The first month of which money can still change.
  public let booked: Month
  /// The first month of which subscriptions can still change.
  public let settled: Month
  /// The first month that has not ended.
  public let ended: Month

  /// Makes a horizon.
  public init(feed: Feed, booked: Month, settled: Month, ended: Month) {
    self.feed = feed
    self.booked = booked
    self.settled = settled
    self.ended = ended
  }
}

/// Up to which sort of horizon a report's rows are complete.
public enum HorizonKind: String, Sendable, CaseIterable {
  /// Money.
  case booked
  /// Subscriptions.
  case settled
  /// Trials.
  case ended
}

/// What a run publishes, for those after it to compare with.
public struct NewPublication: Sendable, Equatable {
  /// Time zone of days and months.
  public var zone: String
  /// How far each feed is complete.
  public var horizons: [PublishedHorizon] = []
  /// Rows that differ from what was published before, or were not.
  public var rows: [PublishedRows] = []
  /// How many rows each month has.
  public var months: [Month: MonthRows] = [:]

  /// A publication without rows yet.
  public init(zone: String) { self.zone = zone }
}

/// How many rows a month has in the monthly reports.
public struct MonthRows: Sendable, Equatable {
  /// All of them.
  public var count: Int64 = 0
  /// Those that can still change.
  public var incomplete: Int64 = 0

  /// None yet.
  public init() {}

  /// These rows and those of another report.
  public func adding(_ other: MonthRows) -> MonthRows {
    var sum = self
    sum.count += other.count
    sum.incomplete += other.incomplete
    return sum
  }
}

/// The newest version of the rows of one month.
public struct PublishedHead: Sendable, Equatable {
  /// The run that published it first.
  public let run: Int64
  /// Of the rows, as 64 hex digits.
  public let sha256: String
}

extension Ledger {
  /// Writes what a run read, the SHA-256 of its SHA256SUMS, and the rows that it published, whole
  /// or not at all.
  public func finishRun(
    _ run: Int64, archives: Int64, tallies: ArchiveTallies, published: String,
    checksums: Document? = nil, rows publication: NewPublication
  ) throws(LedgerError) {
    try change("finish a run") { database in
      try keep(publication, run, in: database)
      // The rows come first, because finishing the run seals them.
      try finishRun(
        run, archives: archives, tallies: tallies, published: published, checksums: checksums)
    }
  }

  private func keep(_ publication: NewPublication, _ run: Int64, in database: Connection) throws {
    let begin = try database.statement(
      """
      insert or replace into publication (run, zone, last_archive)
      select ?, ?, coalesce((select max(id) from archive), 0)
      """)
    begin.bind(1, run)
    begin.bind(2, publication.zone)
    try begin.run()
    let horizon = try database.statement(
      """
      insert or replace into published_horizon (
        run, provider, app, booked_month, settled_month, ended_month)
      values (?, ?, ?, ?, ?, ?)
      """)
    for row in publication.horizons {
      let months = [row.booked, row.settled, row.ended].map { Int64($0.number) }
      let key = [run, Int64(row.feed.provider.rawValue), Int64(row.feed.app)]
      for (index, value) in (key + months).enumerated() { horizon.bind(Int32(index + 1), value) }
      try horizon.run()
    }
    let version = try database.statement(
      """
      insert or replace into published (report, zone, period, run, sha256, rows, causes)
      values (?, ?, ?, ?, ?, ?, ?)
      """)
    try keep(publication.months, publication.zone, run, in: database)
    for row in publication.rows {
      version.bind(1, row.report)
      version.bind(2, publication.zone)
      version.bind(3, Int64(row.month.number))
      version.bind(4, run)
      version.bind(5, row.sha256)
      version.bind(6, blob: row.rows)
      version.bind(7, blob: row.causes)
      try version.run()
    }
  }

  private func keep(
    _ months: [Month: MonthRows], _ zone: String, _ run: Int64, in database: Connection
  ) throws {
    let clear = try database.statement("delete from published_month where zone = ?")
    clear.bind(1, zone)
    try clear.run()
    let insert = try database.statement(
      """
      insert into published_month (zone, period, run, row_count, incomplete_rows)
      values (?, ?, ?, ?, ?)
      """)
    for (month, rows) in months.sorted(by: { $0.key < $1.key }) {
      insert.bind(1, zone)
      for (index, value) in [Int64(month.number), run, rows.count, rows.incomplete].enumerated() {
        insert.bind(Int32(index + 2), value)
      }
      try insert.run()
    }
  }

  /// The newest version before `run` of each month of a report.
  public func publishedHeads(
    of report: String, zone: String, before run: Int64
  ) throws(LedgerError) -> [Month: PublishedHead] {
    try access("read published rows") { database in
      let statement = try database.statement(
        """
        select period, max(run), sha256 from published
        where report = ? and zone = ? and run < ? group by period
        """)
      statement.bind(1, report)
      statement.bind(2, zone)
      statement.bind(3, run)
      var heads: [Month: PublishedHead] = [:]
      try statement.forEachRow { row in
        let month = row.month(0)
        heads[month] = PublishedHead(run: row.int64(1), sha256: row.text(2))
      }
      return heads
    }
  }

  /// The rows that `run` published of one month, CSV without header; nil when it published none
  /// anew.
  public func publishedRows(
    of report: String, zone: String, month: Month, run: Int64
  ) throws(LedgerError) -> [UInt8]? {
    try publishedBlobs("rows", of: report, zone: zone, month: month, runs: run...run).first
  }

  /// The causes of what `runs` restated of one month, a CSV for each version, in their order.
  public func publishedCauses(
    of report: String, zone: String, month: Month, runs: ClosedRange<Int64>
  ) throws(LedgerError) -> [[UInt8]] {
    try publishedBlobs("causes", of: report, zone: zone, month: month, runs: runs)
  }

  private func publishedBlobs(
    _ column: String, of report: String, zone: String, month: Month, runs: ClosedRange<Int64>
  ) throws(LedgerError) -> [[UInt8]] {
    try access("read published rows") { database in
      let statement = try database.statement(
        """
        select \(column) from published
        where report = ? and zone = ? and period = ? and run between ? and ? order by run
        """)
      statement.bind(1, report)
      statement.bind(2, zone)
      statement.bind(3, Int64(month.number))
      statement.bind(4, runs.lowerBound)
      statement.bind(5, runs.upperBound)
      var blobs: [[UInt8]] = []
      try statement.forEachRow { row in
        guard let bytes = Gzip.expand(row.blob(0)) else { throw damagedRows(of: report, month) }
        blobs.append(bytes)
      }
      return blobs
    }
  }

  func damagedRows(of report: String, _ month: Month) -> LedgerError {
    LedgerError(
      .corrupt,
      "cannot read the published rows of \(report) \(month.text) in the ledger \(path): "
        + "they are damaged",
      hint: "restore the ledger from a backup")
  }
}
