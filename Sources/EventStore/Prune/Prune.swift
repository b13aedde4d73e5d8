public import Domain

/// Counts of removed rows, which only earlier runs and as-ofs need.
public struct Pruned: Sendable, Equatable {
  /// The first run that can still be reproduced.
  public var firstRun: Int64
  /// Snapshots that newer ones had replaced.
  public var snapshots: Int64 = 0
  /// Content of only these snapshots.
  public var contents: Int64 = 0
  /// Versions of published rows that newer ones superseded.
  public var published: Int64 = 0
  /// Checksums of sets that can no longer be reproduced.
  public var checksums: Int64 = 0

  /// Whether anything was removed.
  public var isChanged: Bool { self != Pruned(firstRun: firstRun) }

  /// Returns the counts for the audit entry, one fact per line.
  func lines(before: Instant) -> [String] {
    [
      "before_ms \(before.milliseconds)", "first_run \(firstRun)", "snapshots \(snapshots)",
      "contents \(contents)", "published \(published)", "checksums \(checksums)",
    ]
  }
}

extension Ledger {
  /// Removes everything that neither as-ofs from `moment` on nor runs with such an as-of need, and
  /// records the audit entry, in one transaction; `vacuum` then makes the file smaller.
  ///
  /// Returns nil when no run has published with such an as-of. Content that a close froze stays,
  /// and so does everything about a month that was ever closed.
  public func prune(before moment: Instant, as new: AuditEntry) throws(SubledgerError) -> Pruned? {
    try change("prune") { database in
      let first = try database.first(
        """
        select run.id, publication.last_archive from run
        join publication on publication.run = run.id
        where run.published is not null and run.as_of_ms >= ? order by run.id limit 1
        """, moment
      ) { ($0.int64(0), $0.int64(1)) }
      guard let (run, archive) = first else { return nil }
      let before = try SealedParts(of: Self.pruned, in: database)
      var result = Pruned(firstRun: run)
      result.snapshots = try database.removeSnapshots(before: moment, knownTo: archive)
      result.contents = try database.run(Self.unusedContents)
      result.published = try database.run(Self.supersededRows, run)
      result.checksums = try database.run(Self.oldChecksums, run, moment)
      guard result.isChanged else { return result }
      var act = new
      let facts = try result.lines(before: moment) + before.rewritings().map(\.line)
      act.content = facts.joined(separator: "\n")
      try record(act)
      return result
    }
  }

  /// Sealed tables whose rows are removed or changed.
  private static let pruned: Set = ["archive", "published_row"]

  /// Removes content of no snapshot.
  private static let unusedContents = """
    delete from snapshot_content as content
    where key not in (select content from snapshot)
      and not exists (select 1 from snapshot_content as next where next.key = content.key + 1)
    """

  /// Removes versions of rows with which no run from `?1` on compares, of months that were never
  /// closed.
  private static let supersededRows = """
    delete from published_row
    where exists (
      select 1 from published as version
      join published as newer
        on newer.report = version.report and newer.zone = version.zone
        and newer.period = version.period and newer.run > version.run and newer.run < ?1
      join published_row as later on later.version = newer.id and later.key = published_row.key
      where version.id = published_row.version
        and not exists (
          select 1 from act
          where act.what = 'close' and act.zone = version.zone and act.period = version.period))
    """

  /// Removes checksums of the sets of runs before `?1`, or as of a time before `?2`.
  private static let oldChecksums = """
    delete from document
    where sha256 in (select published from run where id < ?1 or as_of_ms < ?2)
    and sha256 not in (
      select published from run where published is not null and id >= ?1 and as_of_ms >= ?2)
    and sha256 not in (select published from run where published is not null
      order by id desc limit 1)
    and not exists (
      select 1 from run
      where document.sha256 in (run.configuration, run.prices, run.decisions))
    """

  /// Returns the first as-of, and the first run, that can still be reproduced.
  public func prunedBefore() throws(SubledgerError) -> (moment: Instant, run: Int64)? {
    var found: (moment: Instant, run: Int64)?
    for act in try acts() where act.action == .prune {
      var facts: [Substring: Int64] = [:]
      for words in act.facts where words.count == 2 { facts[words[0]] = Int64(words[1]) }
      let moment = Instant(milliseconds: facts["before_ms"] ?? .min)
      found = (
        max(found?.moment ?? moment, moment), max(found?.run ?? 0, facts["first_run"] ?? 0)
      )
    }
    return found
  }
}

extension Connection {
  /// Removes snapshots before `moment` for which every run from one that knew `archive` on used a
  /// newer one; returns how many.
  func removeSnapshots(before moment: Instant, knownTo archive: Int64) throws -> Int64 {
    let isReplaced = """
      captured_ms < ?1 and exists (
        select 1 from snapshot as newer
        where newer.provider = snapshot.provider and newer.user = snapshot.user
          and newer.app = snapshot.app and newer.captured_ms > snapshot.captured_ms
          and newer.captured_ms <= ?1 and newer.archive <= ?2)
      """
    for (archive, sum) in try snapshotChecks(where: isReplaced, moment, archive) {
      let before = try first(
        "select coalesce(snapshots_check, 0) from archive where id = ?", archive
      ) { $0.int64(0) }
      try run(
        "update archive set snapshots_check = ?2 where id = ?1", archive, (before ?? 0) &- sum)
    }
    return try run("delete from snapshot where \(isReplaced)", moment, archive)
  }
}
