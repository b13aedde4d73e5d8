public import Domain

extension Ledger {
  /// The last run that published each set, by the SHA-256 of its SHA256SUMS.
  public func publishers() throws(LedgerError) -> [String: Int64] {
    try access("read the runs") { database in
      let statement = try Statement(
        database, "select published, id from run where published is not null order by id")
      var publishers: [String: Int64] = [:]
      try statement.forEachRow { publishers[$0.text(0)] = $0.int64(1) }
      return publishers
    }
  }

  /// The newest run before `run`, in the same time zone, whose rows of `month` and `feed` were
  /// complete; nil if there is none.
  public func newestPublication(
    zone: String, before run: Int64, completing month: Month, _ kind: HorizonKind, of feed: Feed
  ) throws(LedgerError) -> Int64? {
    let horizon =
      switch kind {
      case .booked: "booked_month"
      case .settled: "settled_month"
      case .ended: "ended_month"
      }
    return try access("read publications") { database in
      let statement = try database.statement(
        """
        select p.run from publication as p
        join published_horizon as h on h.run = p.run
        where p.zone = ?1 and p.run < ?2 and h.\(horizon) > ?3
          and h.provider = ?4 and h.app = ?5
        order by p.run desc limit 1
        """)
      statement.bind(1, zone)
      statement.bind(2, run)
      statement.bind(3, Int64(month.number))
      statement.bind(4, Int64(feed.provider.rawValue))
      statement.bind(5, Int64(feed.app))
      return try statement.first { $0.int64(0) }
    }
  }

  /// The last archive that `run` knew when it published; 0 when it knew none.
  public func lastArchive(knownTo run: Int64) throws(LedgerError) -> Int32 {
    try access("read publications") { database in
      let statement = try database.statement("select last_archive from publication where run = ?")
      statement.bind(1, run)
      return try statement.first { Int32(truncatingIfNeeded: $0.int64(0)) } ?? 0
    }
  }

  /// The first of the runs up to `run` that published from the same input with the same options,
  /// whatever the reports were printed like.
  ///
  /// They are one publication, said again: each tells what the first one told.
  public func firstRepetition(of run: Int64) throws(LedgerError) -> Int64 {
    try access("read publications") { database in
      let statement = try database.statement(
        """
        select coalesce(max(p.run), 0) + 1 from publication as p
        join run as other on other.id = p.run
        join run as this on this.id = ?1
        where p.run < ?1 and not (
          other.as_of_ms = this.as_of_ms and other.version = this.version
          and json_remove(other.options, '$.csv_dialect', '$.amount_decimals')
            = json_remove(this.options, '$.csv_dialect', '$.amount_decimals')
          and p.last_archive = (select coalesce(max(id), 0) from archive))
        """)
      statement.bind(1, run)
      return try statement.first { $0.int64(0) } ?? run
    }
  }

  /// The time zone of what `run` published; nil when it published nothing.
  public func zone(of run: Int64) throws(LedgerError) -> String? {
    try access("read publications") { database in
      let statement = try database.statement("select zone from publication where run = ?")
      statement.bind(1, run)
      return try statement.first { $0.text(0) }
    }
  }

  /// The last run before `run` that published; nil when none did.
  public func publication(before run: Int64) throws(LedgerError) -> Int64? {
    try access("read publications") { database in
      let statement = try database.statement(
        "select run from publication where run < ? order by run desc limit 1")
      statement.bind(1, run)
      return try statement.first { $0.int64(0) }
    }
  }

  /// Names of the options in which two runs differ; `version` when the programs do.
  public func changedOptions(from one: Int64, to other: Int64) throws(LedgerError) -> Set<String> {
    try access("compare the options of runs") { database in
      let statement = try database.statement(
        """
        with one as (
          select option.key, option.value
          from run, json_each(run.options) as option where run.id = ?1
          union all select 'version', version from run where id = ?1
        ),
        other as (
          select option.key, option.value
          from run, json_each(run.options) as option where run.id = ?2
          union all select 'version', version from run where id = ?2
        )
        select coalesce(one.key, other.key) from one
        full join other on other.key = one.key
        where one.value is not other.value
        """)
      statement.bind(1, one)
      statement.bind(2, other)
      var names: Set<String> = []
      try statement.forEachRow { names.insert($0.text(0)) }
      return names
    }
  }
}
