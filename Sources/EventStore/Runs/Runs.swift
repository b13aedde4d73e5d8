public import Domain

/// A run as stored in the ledger.
public struct RunRow: Sendable, Equatable {
  /// Number from 1, in order.
  public var id: Int64
  /// Business time of the run's reports.
  public var asOf: Instant
  /// Version of the program.
  public var version: String
  /// JSON with sorted keys.
  public var options: String
  /// Number of event archives that were read for the run.
  public var archives: Int64
  /// Counts of their lines.
  public var counts: ArchiveCounts
  /// SHA-256 of the published SHA256SUMS; nil before the publication.
  public var published: String?
  /// Why the set was published with reservations; empty if without.
  public var qualified: [String] = []
  /// The time zone of its set; nil before the publication.
  public var zone: String?
}

extension Ledger {
  /// Returns the number of the run that publishes next, to which new input belongs.
  public func nextRun() throws(SubledgerError) -> Int64 {
    if let replayedRun { return replayedRun }
    return try access("number a run") { try $0.nextRun() }
  }

  /// Begins a run and returns its number; `finishRun` writes its input.
  ///
  /// A run that ended before it published continues under its number: no trace of an interruption.
  public func beginRun(
    asOf: Instant, version: String, options: String, documents: RunDocuments = RunDocuments()
  ) throws(SubledgerError) -> Int64 {
    try change("begin a run") { database in
      let run = try database.nextRun()
      try database.run(
        """
        insert into run (
          id, as_of_ms, version, options, lines, accepted, duplicates, skipped, rejected, archives)
        values (?, ?, ?, ?, 0, 0, 0, 0, 0, 0)
        on conflict (id) do update set
          as_of_ms = excluded.as_of_ms, version = excluded.version, options = excluded.options
        """, run, asOf, version, options)
      try documents.write(to: database, run: run)
      return run
    }
  }

  /// Writes what a run read and, when it published, the SHA-256 of its SHA256SUMS; then the run is
  /// sealed: its record becomes a link of the chain.
  ///
  /// `checksums` is that file, stored in the ledger, and `publication` is what later runs compare
  /// with. Everything is written in one transaction.
  public func finishRun(
    _ run: Int64, archives: Int64, counts: ArchiveCounts, published: String?,
    checksums: Document? = nil, qualified: [String] = [], publication: NewPublication? = nil
  ) throws(SubledgerError) {
    try change("finish a run") { database in
      if let publication { try keep(publication, run, in: database) }
      try database.run(
        """
        update run set
          lines = ?2, accepted = ?3, duplicates = ?4, skipped = ?5, rejected = ?6, archives = ?7,
          published = ?8, qualified = ?9
        where id = ?1
        """, run, counts.lines, counts.accepted, counts.duplicates, counts.skipped,
        counts.rejected, archives, published,
        qualified.isEmpty ? nil : qualified.joined(separator: "\n"))
      try checksums?.write(to: database)
      if published != nil { try database.seal(run) }
    }
  }

  /// Returns the run with this number.
  public func run(_ number: Int64) throws(SubledgerError) -> RunRow? {
    try first("read a run", "\(RunRow.select) where id = ?", number) { RunRow($0) }
  }

  /// Returns the newest `count` runs, newest first.
  public func runs(newest count: Int) throws(SubledgerError) -> [RunRow] {
    try all("read the runs", "\(RunRow.select) order by id desc limit ?", count) { RunRow($0) }
  }

  /// Returns the newest published run; nil if there is none.
  public func lastPublished() throws(SubledgerError) -> RunRow? {
    try first(
      "read the runs", "\(RunRow.select) where published is not null order by id desc limit 1"
    ) { RunRow($0) }
  }

  /// Returns the unpublished run that wrote the current cells and breaks, running or interrupted;
  /// nil when they belong to the last published run.
  public func unpublishedRun() throws(SubledgerError) -> RunRow? {
    try first("read the runs", "\(RunRow.select) where published is null order by id limit 1") {
      RunRow($0)
    }
  }

  /// Returns the time of the last event, regardless of as-of; nil if there is none.
  public func lastEventAt() throws(SubledgerError) -> Instant? {
    try first(
      "look for the last event", "select max(last_event_ms) from archive"
    ) { $0.optionalInstant(0) } ?? nil
  }

  /// Whether a feed continues after `asOf`, by more than a few messages with wrong times.
  public func goesOn(after asOf: Instant) throws(SubledgerError) -> Bool {
    try access("look for later deliveries") { database in
      try database.feeds().contains { try database.arrivalHours(of: $0).goOn(after: asOf) }
    }
  }

  /// Returns the watermarks at `asOf` of feeds with deliveries until then, by provider and app.
  public func watermarks(asOf: Instant) throws(SubledgerError) -> [Watermark] {
    try access("read the watermarks") { database in
      let words = symbols.words
      let feeds = try database.feeds().filter { words.indices.contains(Int($0.app)) }.sorted {
        ($0.provider.rawValue, words[Int($0.app)]) < ($1.provider.rawValue, words[Int($1.app)])
      }
      return try feeds.compactMap { feed in
        var rhythm = FeedRhythm(asOf: asOf)
        for hour in try database.arrivalHours(of: feed) {
          rhythm.add(first: hour.lowerBound, last: hour.upperBound)
        }
        guard let newest = rhythm.newest, let begin = rhythm.begin else { return nil }
        return Watermark(
          of: feed, app: words[Int(feed.app)], newest: newest, begin: begin,
          gapMax: rhythm.gapMax, trustedFrom: rhythm.trustedFrom)
      }
    }
  }
}

extension Connection {
  /// Returns the interrupted run or, without one, the number after the last run.
  func nextRun() throws -> Int64 {
    try first(
      """
      select coalesce(
        (select min(id) from run where published is null), (select max(id) + 1 from run), 1)
      """
    ) { $0.int64(0) } ?? 1
  }

  /// Returns the feeds with deliveries.
  func feeds() throws -> [Feed] {
    try all("select distinct provider, app from delivery_day order by provider, app") {
      try $0.feed(0)
    }
  }

  /// Returns a feed's first to last arrival of each hour; several runs may share a day.
  func arrivalHours(of feed: Feed) throws -> [ArrivalHour] {
    try all(
      "select day, hours from delivery_day where provider = ? and app = ?", feed.provider, feed.app
    ) { try [ArrivalHour]($0.blob(1), of: $0.day(0)) }.flatMap(\.self).mergedByHour
  }

  /// Returns the number of the last archive; 0 if there is none.
  func newestArchive() throws -> Int32 {
    try first("select coalesce(max(id), 0) from archive") { $0.archive(0) } ?? 0
  }

  /// Returns the last archive known to a run before the next one, or to the cells; 0 for none.
  func lastPublishedArchive() throws -> Int32 {
    try first(
      """
      select max(
        coalesce((select id from archive where run < ? order by id desc limit 1), 0),
        coalesce((select archive from fold), 0))
      """, nextRun()
    ) { $0.archive(0) } ?? 0
  }
}

extension RunRow {
  static let select = """
    select id, as_of_ms, version, options, archives, lines, accepted, duplicates, skipped,
      rejected, 0, 0, published, qualified, zone
    from run left join publication on publication.run = id
    """

  init(_ row: Statement) {
    self.init(
      id: row.int64(0), asOf: row.instant(1), version: row.text(2),
      options: row.text(3), archives: row.int64(4), counts: ArchiveCounts(row, from: 5),
      published: row.isNull(12) ? nil : row.text(12),
      qualified: row.text(13).split(separator: "\n").map(String.init),
      zone: row.isNull(14) ? nil : row.text(14))
  }
}
