public import Domain

/// What became of breaks in a run.
public struct BreakCounts: Sendable, Equatable {
  /// Not seen in any run before.
  public var new: Int64 = 0
  /// Resolved before, and back.
  public var reopened: Int64 = 0
  /// Gone since the last run.
  public var resolved: Int64 = 0
}

extension Ledger {
  /// Makes `current` the breaks that exist at `asOf`, whole or not at all.
  ///
  /// A break that is stored but not in `current` is resolved by `run`, the number that `beginRun`
  /// returned. A break that comes back begins another episode. A run as of an earlier time neither
  /// resolves nor reopens breaks of later as-ofs. An earlier attempt at the same run is undone
  /// first.
  public func storeBreaks(
    _ current: [Break], asOf: Instant, run: Int64
  ) throws(SubledgerError) -> BreakCounts {
    try change("write the breaks") { database in
      var counts = BreakCounts()
      let episodes = try BreakEpisodes(database, asOf: asOf, run: run)
      try episodes.undoAttempt()
      for item in current { try episodes.see(item, &counts) }
      counts.resolved = try episodes.resolveUnseen()
      return counts
    }
  }

  /// The break with this id as the last run that found it described it, with the texts as they were
  /// received; nil if no run found it.
  public func knownBreak(_ id: String) throws(SubledgerError) -> Break? {
    try first(
      "read a break", "select \(BreakContent.selected) from break where break_id = ?", id
    ) { try BreakContent.read($0) }
  }

  /// The breaks that events alone prove and the newest run found, by id, as it described them.
  ///
  /// Not all unresolved ones: a run that looks back leaves breaks of later as-ofs as they are.
  public func standingBreaks() throws(SubledgerError) -> [Break] {
    try all(
      "read the breaks",
      """
      select \(BreakContent.selected) from break_episode
      where last_run = (select max(id) from run) and lineage <> 0 order by break_id
      """
    ) { try BreakContent.read($0) }
  }
}
