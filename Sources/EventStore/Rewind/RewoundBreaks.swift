/// Takes the lives of breaks back to where they stood before a run.
///
/// A run that did not see a living break, at an as-of that is not before it was last seen, has
/// resolved it. So every such run up to the end of a life saw it, and nobody needs to keep which.
struct RewoundBreaks {
  private let database: Connection
  private let run: Int64

  init(_ database: Connection, run: Int64) {
    self.database = database
    self.run = run
  }

  func write() throws {
    try execute("delete from break_episode where first_run >= ?1")
    try execute(
      """
      update break_episode set resolved_ms = null, resolved_run = null where resolved_run >= ?1
      """)
    try execute(
      """
      update break_episode set
        last_seen_ms = max(
          first_seen_ms,
          (select max(as_of_ms) from run where id >= break_episode.first_run and id < ?1)),
        last_run = (select max(id) from run where id < ?1)
      where last_run >= ?1
      """)
  }

  private func execute(_ sql: String) throws {
    let statement = try Statement(database, sql)
    statement.bind(1, run)
    try statement.run()
  }
}
