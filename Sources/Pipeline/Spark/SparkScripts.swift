struct SparkScripts: Sendable {
  /// The folder or URL of the lake's events.
  let lake: String
  /// Returns the command line of a stage, for the shell of a worker.
  let command: @Sendable (_ stage: Stage, _ job: String) -> String

  private static let rows = "ROW FORMAT DELIMITED FIELDS TERMINATED BY '\\t'"
  private static let columns = """
    file INT, attempt INT, row BIGINT, number INT, provider BIGINT, lineage BIGINT, user BIGINT, \
    identity BIGINT, original BIGINT, transaction BIGINT, content STRING
    """

  /// Minimum number of files, by hash of the lineage, in which the events of a part are stored.
  static let buckets = 64
  /// The keys of an event; that of its lineage with its bucket.
  private static let keys = """
    stack(5, pmod(hash(lineage), \(buckets)), lineage, -1, user, -1, identity, -1, original, -1, \
    transaction) AS (bucket, key)
    """

  /// Returns statements that read files to rows, which become the run's part of the lake.
  func normalise(files: String, part: String, job: String) -> [String] {
    let rows = """
      (SELECT TRANSFORM (file, content) \(Self.rows) USING '\(command(.normalise, job))'
      AS (\(Self.columns)) \(Self.rows)
      FROM (SELECT * FROM listed DISTRIBUTE BY file))
      """
    return [csv("listed", "file INT, content STRING", at: files)] + write(rows, as: part)
  }

  /// Returns statements that move rows from the driver into the lake, as a separate part.
  func keep(rows: String, as part: String) -> [String] {
    [csv("read_again", Self.columns, at: rows)] + write("read_again", as: part)
  }

  private func write(_ rows: String, as part: String) -> [String] {
    [
      "DROP TABLE IF EXISTS written",
      """
      CREATE TABLE written USING parquet
      CLUSTERED BY (lineage) SORTED BY (lineage) INTO \(Self.buckets) BUCKETS
      LOCATION '\(lake)/part=\(part)' AS SELECT * FROM \(rows) DISTRIBUTE BY lineage
      """,
    ]
  }

  /// Returns statements that write a part's rows, in the order in which they were created.
  func rows(of part: String, into folder: String) -> [String] {
    [
      """
      INSERT OVERWRITE DIRECTORY '\(folder)' USING text
      SELECT concat_ws('\\t', file, attempt, row, number, content)
      FROM (SELECT * FROM parquet.`\(lake)/part=\(part)` ORDER BY file, attempt, row)
      """
    ]
  }

  /// Returns statements that create the view `event` of the events of `archives`, and `listed_user`
  /// of users with snapshots and the transactions in these; if given, only of keys that `grow`
  /// found.
  func open(
    parts: Set<String>, archives: String, users: String, touched: TouchedKeys? = nil
  ) -> [String] {
    let all = parts.sorted().joined(separator: ",")
    let hasBuckets = parts.allSatisfy { $0.hasPrefix("\(Self.buckets)-") }
    // The names of files end with their bucket.
    let names = touched?.buckets.sorted().map { String($0 + 100_000).dropFirst() } ?? []
    let some =
      hasBuckets && touched != nil ? "pathGlobFilter '*_{\(names.joined(separator: ","))}.*', " : ""
    return [
      """
      CREATE OR REPLACE TEMPORARY VIEW stored (\(Self.columns), part STRING) USING parquet
      OPTIONS (\(some)path '\(lake)/part={\(all)}', basePath '\(lake)')
      """,
      csv(
        "taken", "archive INT, part STRING, file INT, attempt INT, published INT", at: archives),
      csv("given_user", "provider BIGINT, user BIGINT, token BIGINT", at: users),
      """
      CREATE OR REPLACE TEMPORARY VIEW event AS
      SELECT taken.archive, taken.published, stored.* FROM stored
      JOIN taken ON taken.part = stored.part AND taken.file = stored.file
        AND taken.attempt = stored.attempt
      WHERE stored.number >= 0
        \(touched == nil ? "" : "AND lineage IN (SELECT key FROM touched WHERE bucket >= 0)")
      """,
      """
      CREATE OR REPLACE TEMPORARY VIEW listed_user AS SELECT * FROM given_user
      \(touched == nil ? "" : "WHERE user IN (SELECT key FROM touched)")
      """,
    ]
  }

  /// Returns statements that list the first keys: those of events of archives after `archive`,
  /// `keys`, and users of some providers without a snapshot.
  func touch(
    since archive: Int32, keys: String, unseen providers: [Int], into folder: String
  ) -> [String] {
    let unseen = providers.map(String.init).joined(separator: ", ")
    let others = """
      UNION ALL SELECT -1, event.user FROM event LEFT ANTI JOIN listed_user
        ON listed_user.provider = event.provider AND listed_user.user = event.user
      WHERE event.provider IN (\(unseen))
      """
    return [
      csv("changed", "key BIGINT", at: keys),
      list(
        """
        SELECT -1 AS bucket, key FROM changed
        UNION ALL SELECT \(Self.keys) FROM event WHERE archive > \(archive)
        \(providers.isEmpty ? "" : others)
        """, into: folder),
    ]
  }

  /// Returns statements that add all keys of events and snapshots that share one of these keys.
  func grow(_ touched: String, into folder: String) -> [String] {
    let own = ["lineage", "user", "identity", "original", "transaction"]
    func have(_ columns: [String]) -> String {
      columns.map { "\($0) IN (SELECT key FROM touched)" }.joined(separator: " OR ")
    }
    return [
      csv("touched", "bucket INT, key BIGINT", at: touched),
      list(
        """
        SELECT bucket, key FROM touched
        UNION ALL SELECT \(Self.keys) FROM event WHERE \(have(own))
        UNION ALL SELECT stack(2, -1, user, -1, token) FROM listed_user
        WHERE \(have(["user", "token"]))
        """, into: folder),
    ]
  }

  private func list(_ keys: String, into folder: String) -> String {
    """
    INSERT OVERWRITE DIRECTORY '\(folder)' USING text
    SELECT DISTINCT concat_ws('\\t', bucket, key) FROM (\(keys)) WHERE key <> 0
    """
  }

  /// Returns statements that create the view `base`, with a common key for a lineage's events and
  /// its user, and list which of these keys belong together: those of one user, lineage,
  /// transaction or snapshot.
  func edges(into folder: String) -> [String] {
    [
      """
      CREATE OR REPLACE TEMPORARY VIEW base AS
      SELECT lineage, coalesce(min(nullif(user, 0)), lineage) AS base FROM event GROUP BY lineage
      """,
      """
      CREATE OR REPLACE TEMPORARY VIEW token AS
      SELECT DISTINCT kind, token, base FROM (
        SELECT base.base, stack(4, 'u', event.user, 'i', event.identity, 't', event.original,
          't', event.transaction) AS (kind, token)
        FROM event JOIN base ON base.lineage = event.lineage
        UNION ALL SELECT user, 'u', user FROM listed_user
        UNION ALL SELECT user, 't', token FROM listed_user
      ) WHERE token <> 0
      """,
      """
      INSERT OVERWRITE DIRECTORY '\(folder)' USING text
      SELECT DISTINCT concat_ws('\\t', base, least) FROM (
        SELECT base, min(base) OVER (PARTITION BY kind, token) AS least FROM token
      ) WHERE base <> least
      """,
    ]
  }

  /// Returns statements that create the view `placed` of the events and of the users with
  /// snapshots, each with the root of what belongs together.
  func place(roots: String) -> [String] {
    [
      csv("joined", "base BIGINT, root BIGINT", at: roots),
      """
      CREATE OR REPLACE TEMPORARY VIEW placed AS
      SELECT coalesce(joined.root, one.base) AS root, one.*
      FROM (
        SELECT base.base, 'event' AS kind, published, archive, number, content
        FROM event JOIN base ON base.lineage = event.lineage
        UNION ALL
        SELECT DISTINCT user, 'user', 0, 0, 0, cast(user AS STRING) FROM listed_user
      ) AS one LEFT JOIN joined ON joined.base = one.base
      """,
    ]
  }

  /// Returns statements that pass each set of users who belong together to one process of a stage.
  ///
  /// - Parameter since: only sets with events of this archive or later ones; nil for all.
  func stage(_ stage: Stage, job: String, since: Int32?, into folder: String) -> [String] {
    let some = since.map {
      "LEFT SEMI JOIN (SELECT root FROM placed WHERE archive >= \($0)) AS new "
        + "ON new.root = placed.root"
    }
    return [
      """
      INSERT OVERWRITE DIRECTORY '\(folder)' USING text
      SELECT concat_ws('\\t', kind, content) FROM (
        SELECT TRANSFORM (kind, published, archive, number, content) \(Self.rows)
        USING '\(command(stage, job))' AS (kind STRING, content STRING) \(Self.rows)
        FROM (
          SELECT placed.* FROM placed \(some ?? "")
          DISTRIBUTE BY placed.root SORT BY published, archive, number
        )
      )
      """
    ]
  }

  /// Returns statements that write the users with snapshots, then all events by arrival.
  func events(into folder: String) -> [String] {
    [
      """
      INSERT OVERWRITE DIRECTORY '\(folder)' USING text
      SELECT concat_ws('\\t', kind, published, archive, number, content) FROM (
        SELECT 'event' AS kind, published, archive, number, content FROM event
        UNION ALL
        SELECT DISTINCT 'user', 0, 0, 0, cast(user AS STRING) FROM listed_user
      ) ORDER BY published, archive, number
      """
    ]
  }

  private func csv(_ view: String, _ columns: String, at path: String) -> String {
    """
    CREATE OR REPLACE TEMPORARY VIEW \(view) (\(columns)) USING csv
    OPTIONS (path '\(path)', sep '\\t', quote '', escape '')
    """
  }
}

/// Keys of what belongs together, written by Spark.
struct TouchedKeys {
  let folder: String
  private(set) var (keys, lineages) = (0, 0)
  /// Buckets with events of the lineages.
  private(set) var buckets: Set<Int> = []

  init(in rows: StageRows) throws {
    folder = rows.folder
    try rows.forEachRow { row in
      guard row.count == 2, let bucket = Int(row[0]) else { throw StageRows.malformed("keys") }
      keys += 1
      guard bucket >= 0 else { return }
      lineages += 1
      buckets.insert(bucket)
    }
  }
}
