import EventStore
import Domain

extension RunPipeline {
  /// Removes what only as-ofs before a month, and runs with such an as-of, need; returns a summary.
  ///
  /// Events, and everything that a close froze, stay. The removal is one transaction; then the file
  /// is rewritten. A dry run does this in a copy.
  public func prune(before month: String, _ note: AuditNote) throws -> String {
    let first = try Month(typed: month)
    return try onLedger(to: "prune before \(month)") { ledger in
      let (newest, zone) = try newestPublication(of: ledger, else: "there is nothing to prune")
      try ledger.emptyLog()
      let act = AuditEntry(.prune, note)
      let size = try ledger.fileSize()
      guard let start = CivilCalendar(named: zone)?.start(of: first), newest.asOf >= start,
        let found = try ledger.prune(before: start, as: act)
      else {
        throw SubledgerError(
          .usage, "cannot prune before \(month): the newest run is as of \(newest.asOf.text)",
          hint: "the newest run needs later data: give an earlier month")
      }
      guard found.isChanged else {
        return "nothing is needed only for as-ofs before \(start.text)"
      }
      try ledger.vacuum()
      return """
        \(plan.isDryRun ? "would remove" : "removed") \(counted(found.snapshots, "snapshot")) with \
        \(counted(found.contents, "content")), \(counted(found.published, "published version")) \
        and the checksums of \(counted(found.checksums, "set")); the file \
        \(plan.isDryRun ? "would have" : "has") \(try ledger.fileSize()) bytes instead of \(size)
        as-ofs before \(start.text) and runs before run \(found.firstRun) cannot be reported \
        \(plan.isDryRun ? "then" : "any more")
        """
    }
  }

  /// Refuses an as-of for which content was removed.
  func requireKept(_ asOf: Instant, in ledger: Ledger) throws {
    guard let pruned = try ledger.prunedBefore(), asOf < pruned.moment else {
      return
    }
    throw SubledgerError(
      .usage,
      "cannot report as of \(asOf.text): the ledger was pruned before "
        + "\(pruned.moment.text)",
      hint: "give a later --as-of, or rebuild the ledger from the archives")
  }

  /// Refuses a run for which content was removed.
  func requireKept(_ run: RunRow, in ledger: Ledger) throws {
    guard let pruned = try ledger.prunedBefore(),
      run.id < pruned.run || run.asOf < pruned.moment
    else { return }
    throw SubledgerError(
      .usage,
      "run \(run.id) cannot be reproduced: the ledger was pruned before "
        + "\(pruned.moment.text)",
      hint: "runs from run \(pruned.run) on can; a backup from before the pruning has the others")
  }
}
