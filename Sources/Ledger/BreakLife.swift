import GRDB
import Vocabulary

/// Writes what one run does to the episodes of breaks.
struct BreakLife {
  private let database: Database
  private let asOf: Int64
  private let run: Int64
  private let last: RawStatement
  private let insert: RawStatement
  private let update: RawStatement

  init(_ database: Database, asOf: Instant, run: Int64) throws {
    self.database = database
    self.asOf = asOf.milliseconds
    self.run = run
    last = try RawStatement(
      cachedIn: database,
      """
      select episode, resolved_ms from break_episode
      where break_id = ? order by episode desc limit 1
      """)
    insert = try RawStatement(
      cachedIn: database, "insert into break_episode values (?1, ?2, ?3, ?3, ?4, ?4, null, null)")
    update = try RawStatement(
      cachedIn: database,
      """
      update break_episode set
        first_seen_ms = min(first_seen_ms, ?3), last_seen_ms = max(last_seen_ms, ?3), last_run = ?4
      where break_id = ?1 and episode = ?2
      """)
  }

  /// The break `id` exists in this run.
  func see(_ id: String, _ tally: inout BreakTally) throws {
    last.bind(1, id)
    let known = try last.first { ($0.int64(0), $0.optionalInt64(1)) }
    guard let (episode, resolved) = known else {
      tally.new += 1
      return try write(insert, id, episode: 1)
    }
    guard let resolved else { return try write(update, id, episode: episode) }
    guard asOf >= resolved else { return }
    tally.reopened += 1
    try write(insert, id, episode: episode + 1)
  }

  /// Ends the episodes that this run did not see; gives how many.
  func resolveUnseen() throws -> Int64 {
    let resolve = try RawStatement(
      cachedIn: database,
      """
      update break_episode set resolved_ms = ?1, resolved_run = ?2
      where resolved_ms is null and last_run <> ?2 and last_seen_ms <= ?1
      """)
    resolve.bind(1, asOf)
    resolve.bind(2, run)
    try resolve.run()
    return Int64(database.changesCount)
  }

  private func write(_ statement: RawStatement, _ id: String, episode: Int64) throws {
    statement.bind(1, id)
    statement.bind(2, episode)
    statement.bind(3, asOf)
    statement.bind(4, run)
    try statement.run()
  }
}
