public import Domain

/// The published runs and the next one.
public struct PublishingRuns: Sendable {
  let runs: [(id: Int64, asOf: Instant)]

  /// Returns the first run from `run` on whose reports include the time `time`.
  public func first(from run: Int64, reporting time: Instant) -> Int64 {
    let start = runs.indices.partitioningIndex { runs[$0].id >= run }
    return runs[start...].first { $0.asOf > time }?.id ?? runs.last?.id ?? run
  }
}

extension Ledger {
  /// Returns the published runs, followed by the one that publishes next, as of `asOf`.
  public func publishingRuns(next asOf: Instant) throws(SubledgerError) -> PublishingRuns {
    try access("read the runs") { database in
      let next = try database.nextRun()
      let runs = try database.all(
        "select id, as_of_ms from run where published is not null and id < ? order by id", next
      ) { (id: $0.int64(0), asOf: $0.instant(1)) }
      return PublishingRuns(runs: runs + [(id: next, asOf: asOf)])
    }
  }

  /// Whether the set whose SHA256SUMS has this SHA-256 was published by this ledger.
  public func hasPublished(set sha256: String) throws(SubledgerError) -> Bool {
    try access("look for a set") { try $0.isAny("published_set where sha256 = ?", sha256) }
  }

  /// Returns the folder into which a run published this set; nil for unrecorded reports and sets of
  /// other ledgers.
  public func folder(ofSet sha256: String) throws(SubledgerError) -> String? {
    try first(
      "look for a set",
      "select folder from published_set where sha256 = ? and folder is not null", sha256
    ) { $0.text(0) }
  }

  /// Records that a set is about to be published: by a run into `folder`, or, if that is nil, by an
  /// unrecorded report.
  public func announce(set sha256: String, in folder: String?) throws(SubledgerError) {
    try change("announce a set") { database in
      try database.run(
        """
        insert into published_set (sha256, folder) values (?1, ?2)
        on conflict (sha256) do update set folder = ?2 where ?2 is not null
        """, sha256, folder)
    }
  }

  /// Returns the last run that published each set, by SHA-256; nil if unrecorded or interrupted.
  public func publishers() throws(SubledgerError) -> [String: Int64?] {
    let runs = try all(
      "read the runs",
      """
      select set_of.sha256, max(run.id) from published_set as set_of
      left join run on run.published = set_of.sha256 group by set_of.sha256
      """
    ) { ($0.text(0), $0.optionalInt64(1)) }
    return Dictionary(uniqueKeysWithValues: runs)
  }

  /// Returns the newest run before `run` in `zone` whose rows of `month` and `feed` were complete.
  public func newestPublication(
    zone: String, before run: Int64, completing month: Month, _ kind: HorizonKind, of feed: Feed
  ) throws(SubledgerError) -> Int64? {
    try first(
      "read publications",
      """
      select p.run from publication as p
      join published_horizon as h on h.run = p.run
      where p.zone = ? and p.run < ? and h.\(kind.rawValue)_month > ?
        and h.provider = ? and h.app = ?
      order by p.run desc limit 1
      """, zone, run, month, feed.provider, feed.app
    ) { $0.int64(0) }
  }

  /// Returns the first month for which `run` published incomplete money; nil without feeds.
  public func openMonth(ofRun run: Int64) throws(SubledgerError) -> Month? {
    try first(
      "read publications",
      "select min(booked_month) from published_horizon where run = ? group by run", run
    ) { $0.month(0) }
  }

  /// Returns the last archive known to `run` when it published; 0 if there was none.
  public func lastArchive(knownTo run: Int64) throws(SubledgerError) -> Int32 {
    try first("read publications", "select last_archive from publication where run = ?", run) {
      $0.archive(0)
    } ?? 0
  }

  /// Returns the first run with the input and options of `run`, regardless of output format.
  ///
  /// They repeat one publication: each lists the restatements of the first one.
  public func firstRepetition(of run: Int64) throws(SubledgerError) -> Int64 {
    try first(
      "read publications",
      """
      select coalesce(max(p.run), 0) + 1 from publication as p
      join run as other on other.id = p.run
      join run as this on this.id = ?1
      where p.run < ?1 and not (
        other.as_of_ms = this.as_of_ms and other.version = this.version
        and json_remove(other.options, '$.csv_dialect', '$.amount_decimals', '$.locale', '$.xlsx')
          = json_remove(this.options, '$.csv_dialect', '$.amount_decimals', '$.locale', '$.xlsx')
        and p.last_archive = (select coalesce(max(id), 0) from archive)
        and not exists (
          select 1 from act
          where what in ('retract', 'readmit') and act.run >= p.run and act.run < ?1))
      """, run
    ) { $0.int64(0) } ?? run
  }

  /// Returns the last run before `run` that published, and its zone; nil if there is none.
  public func publication(
    before run: Int64
  ) throws(SubledgerError) -> (run: Int64, zone: String)? {
    try first(
      "read publications",
      "select run, zone from publication where run < ? order by run desc limit 1", run
    ) { ($0.int64(0), $0.text(1)) }
  }

  /// Returns the time zones of all published sets.
  public func publishedZones() throws(SubledgerError) -> [String] {
    try all("read publications", "select distinct zone from publication order by zone") {
      $0.text(0)
    }
  }

  /// Returns names of the options in which two runs differ; `version` when the programs differ.
  public func changedOptions(from one: Int64, to other: Int64) throws(SubledgerError) -> Set<String>
  {
    let names = try all(
      "compare the options of runs",
      """
      with given (run, key, value) as (
        select run.id, option.key, option.value
        from run, json_each(run.options) as option where run.id in (?1, ?2)
        union all select id, 'version', version from run where id in (?1, ?2)
      )
      select key from (select * from given where run = ?1) as one
      full join (select * from given where run = ?2) as other using (key)
      where one.value is not other.value
      """, one, other
    ) { $0.text(0) }
    return Set(names)
  }
}
