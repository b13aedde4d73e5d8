public import Domain

/// Counts of the breaks that a run changed.
public struct BreakCounts: Sendable, Equatable {
  /// Breaks that no earlier run found.
  public var new: Int64 = 0
  /// Breaks that were resolved and came back.
  public var reopened: Int64 = 0
  /// Breaks that the previous run found and this one did not.
  public var resolved: Int64 = 0
}

extension Ledger {
  /// Stores `current` as the breaks that exist at `asOf`, in one transaction.
  ///
  /// A stored break that is missing from `current` is resolved by `run`, the number that `beginRun`
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

  /// Returns the break with this id as the last run that found it described it, with the texts as
  /// they were received; nil if no run found it.
  public func knownBreak(_ id: String) throws(SubledgerError) -> Break? {
    try first(
      "read a break", "select \(BreakContent.selected) from break where break_id = ?", id
    ) { try BreakContent.read($0) }
  }

  /// Returns the breaks that events alone prove and the newest run found, by id, as it described
  /// them.
  ///
  /// They are not all unresolved breaks: a run as of an earlier time does not touch later ones.
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
