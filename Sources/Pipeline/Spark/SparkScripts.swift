import EventStore

/// What Spark is asked to do, in its SQL.
struct SparkScripts: Sendable {
  /// The folder of the lake's events.
  let lake: String
  /// The program and what travels with it, for the shell of a worker.
  let command: @Sendable (_ stage: Stage, _ job: String) -> String

  private static let rows = "ROW FORMAT DELIMITED FIELDS TERMINATED BY '\\t'"
  private static let columns = """
    file INT, attempt INT, row BIGINT, number INT, provider BIGINT, lineage BIGINT, user BIGINT, \
    identity BIGINT, original BIGINT, transaction BIGINT, content STRING
    """

  /// Reads files to rows, which become the run's part of the lake.
  func normalise(files: String, part: String, job: String) -> [String] {
    [
      csv("listed", "file INT, content STRING", at: files),
      """
      INSERT OVERWRITE DIRECTORY '\(lake)/part=\(part)' USING parquet
      SELECT TRANSFORM (file, content) \(Self.rows) USING '\(command(.normalise, job))'
      AS (\(Self.columns)) \(Self.rows)
      FROM (SELECT * FROM listed DISTRIBUTE BY file)
      """,
    ]
  }

  /// Takes rows that the driver wrote into the lake, as a part of their own.
  func keep(rows: String, as part: String) -> [String] {
    [
      csv("read_again", Self.columns, at: rows),
      """
      INSERT OVERWRITE DIRECTORY '\(lake)/part=\(part)' USING parquet SELECT * FROM read_again
      """,
    ]
  }

  /// Gives back a part's rows, in the order in which they were made.
  func rows(of part: String, into folder: String) -> [String] {
    [
      """
      INSERT OVERWRITE DIRECTORY '\(folder)' USING text
      SELECT concat_ws('\\t', file, attempt, row, number, content)
      FROM (SELECT * FROM parquet.`\(lake)/part=\(part)` ORDER BY file, attempt, row)
      """
    ]
  }

  /// Makes the views `event`, of the events of `archives`, and `base`, of the key under which those
  /// of a lineage are brought together with others of their user.
  func open(parts: Set<String>, archives: String, users: String) -> [String] {
    let all = parts.sorted().joined(separator: ",")
    return [
      """
      CREATE OR REPLACE TEMPORARY VIEW stored USING parquet
      OPTIONS (path '\(lake)/part={\(all)}', basePath '\(lake)')
      """,
      csv(
        "taken", "archive INT, part STRING, file INT, attempt INT, published INT", at: archives),
      csv("listed_user", "provider BIGINT, user BIGINT, token BIGINT", at: users),
      """
      CREATE OR REPLACE TEMPORARY VIEW event AS
      SELECT taken.archive, taken.published, stored.* FROM stored
      JOIN taken ON taken.part = stored.part AND taken.file = stored.file
        AND taken.attempt = stored.attempt
      WHERE stored.number >= 0
      """,
      """
      CREATE OR REPLACE TEMPORARY VIEW base AS
      SELECT lineage, coalesce(min(nullif(user, 0)), lineage) AS base FROM event GROUP BY lineage
      """,
    ]
  }

  /// Finds which of them belong together: events of one user, lineage or transaction, and
  /// subscriptions that a snapshot lists.
  func edges(into folder: String) -> [String] {
    [
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

  /// Makes the view `placed`, of the events and of the users with snapshots, with the root under
  /// which those that belong together are.
  func place(roots: String) -> [String] {
    [
      csv("joined", "base BIGINT, root BIGINT", at: roots),
      """
      CREATE OR REPLACE TEMPORARY VIEW placed AS
      SELECT coalesce(joined.root, one.base) AS root, one.*
      FROM (
        SELECT base.base, 'event' AS kind, published, archive, number, content, provider,
          event.lineage, user
        FROM event JOIN base ON base.lineage = event.lineage
        UNION ALL
        SELECT DISTINCT user, 'user', 0, 0, 0, cast(user AS STRING), 0, 0, user FROM listed_user
      ) AS one LEFT JOIN joined ON joined.base = one.base
      """,
    ]
  }

  /// Gives each set of users who belong together to one process of a stage.
  ///
  /// - Parameter since: only those with events of this archive or later ones; nil for all.
  func stage(
    _ stage: Stage, job: String, since: Int32? = nil, into folder: String
  ) -> [String] {
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

  /// Gives all events in the order in which they came.
  func events(into folder: String) -> [String] {
    [
      """
      INSERT OVERWRITE DIRECTORY '\(folder)' USING text
      SELECT concat_ws('\\t', 'event', published, archive, number, content) FROM event
      ORDER BY published, archive, number
      """
    ]
  }

  /// Gives those of them that belong together with events of archives after `archive`, with the
  /// lineages and users of `keys`, or with users of some providers without a snapshot.
  func news(
    since archive: Int32, keys: String, unseen providers: [Int], into folder: String
  ) -> [String] {
    let unseen = providers.map(String.init).joined(separator: ", ")
    let others = """
      UNION SELECT root FROM placed LEFT ANTI JOIN listed_user
        ON listed_user.provider = placed.provider AND listed_user.user = placed.user
      WHERE placed.user <> 0 AND placed.provider IN (\(unseen))
      """
    return [
      csv("changed", "key BIGINT", at: keys),
      """
      INSERT OVERWRITE DIRECTORY '\(folder)' USING text
      SELECT concat_ws('\\t', kind, published, archive, number, content) FROM placed
      LEFT SEMI JOIN (
        SELECT root FROM placed WHERE archive > \(archive)
        UNION SELECT root FROM placed JOIN changed ON changed.key = placed.lineage
        UNION SELECT root FROM placed JOIN changed ON changed.key = placed.user
        \(providers.isEmpty ? "" : others)
      ) AS new ON new.root = placed.root
      ORDER BY published, archive, number
      """,
    ]
  }

  private func csv(_ view: String, _ columns: String, at path: String) -> String {
    """
    CREATE OR REPLACE TEMPORARY VIEW \(view) (\(columns)) USING csv
    OPTIONS (path '\(path)', sep '\\t', quote '', escape '')
    """
  }
}
