import Formats
import EventStore
import Logging
import Reconciliation
import Reports
import Domain

extension RunPipeline {
  /// Freezes the numbers of a month as the newest run published them, and returns a summary.
  ///
  /// The rows of every report, their hashes and sums, the unresolved breaks, and the audit entry
  /// are written in one transaction. It does not read a clock: a close has its run's as-of.
  ///
  /// - Parameter isForced: whether to freeze also rows that can still change, and numbers that were
  ///   published with reservations.
  public func close(
    month text: String, _ note: AuditNote, isForced: Bool
  ) throws -> String {
    let month = try Month(typed: text)
    if isForced {
      try note.requireReason(of: "--force", hint: "give the reason why the month cannot wait")
    }
    return try onLedger(to: "close \(text)") { ledger in
      let (run, zone) = try newestPublication(of: ledger, else: "\(month.text) has no numbers")
      if let standing = try ledger.closes(zone: zone, knownTo: .max)[month] {
        throw SubledgerError(
          .usage,
          "cannot close \(month.text): it is closed with the numbers of run \(standing.run)",
          hint: "open it with `subledger reopen \(month.text) --reason …` first")
      }
      try requireStanding(run, in: ledger, to: "close \(month.text)")
      let pipeline = try following(run, in: ledger)
      let rules = try pipeline.reconcileRules(for: ledger).fold
      let frozen = try FrozenMonth(month, from: ledger, plan: ReportPlan(rules: rules, run: run.id))
      try check(frozen, month.text, run, isForced: isForced)
      let state = try ledger.monthStates().first { $0.month == month && $0.zone == zone }
      guard state?.status != .open || isForced else {
        throw SubledgerError(
          .tryAgain,
          "cannot close \(month.text): it is not over, or a stale feed has not delivered all of it",
          hint: "`subledger status` names a stale feed: read its archives, or decide its "
            + "STALE_INPUT break if it has ended; else wait, or freeze the numbers as they are "
            + "with --force and --reason")
      }
      let act = AuditEntry(
        .close, note, of: month, in: zone, content: content(of: frozen, run))
      _ = try ledger.close(act, frozen.reports)
      try warnOfOtherZone(before: run, zone, in: ledger)
      let rows = frozen.reports.reduce(0) { $0 + $1.rows.count }
      return dryRunNotice + "\(month.text) is closed in \(zone) with the numbers of run "
        + "\(run.id), as of \(run.asOf.text): "
        + "\(counted(frozen.reports.count, "report")), \(counted(rows, "row")), "
        + "\(counted(frozen.openBreaks, "open break"))"
    }
  }

  /// Reopens a closed month; later runs compare with the last publication.
  public func reopen(month text: String, _ note: AuditNote) throws -> String {
    let month = try Month(typed: text)
    try note.requireReason(of: "reopen", hint: "give the reason why the numbers must change")
    return try onLedger(to: "reopen \(text)") { ledger in
      let zone = try newestPublication(of: ledger, else: "\(month.text) has no numbers").zone
      guard let standing = try ledger.closes(zone: zone, knownTo: .max)[month] else {
        throw try notClosed(month, in: zone, of: ledger)
      }
      try ledger.record(
        AuditEntry(.reopen, note, of: month, in: zone, content: "close \(standing.act)"))
      return dryRunNotice + "\(month.text) is open again; it was closed with the numbers of "
        + "run \(standing.run)"
    }
  }

  /// Warns that the previous run published its months in another zone: a close in this zone has no
  /// counterpart there.
  private func warnOfOtherZone(before run: RunRow, _ zone: String, in ledger: Ledger) throws {
    guard let (earlier, previous) = try ledger.publication(before: run.id), previous != zone
    else { return }
    log.warning(
      """
      the month is closed in \(zone), as run \(run.id) published it; run \(earlier) before it \
      published in \(previous), and runs in \(previous) do not compare with this close
      """)
  }

  /// Warns of months that are closed only in a time zone other than the run's.
  func warnOfClosesElsewhere(in ledger: Ledger) throws {
    let zone = plan.rules.calendar.identifier
    let closed = try ledger.monthStates().filter { $0.closedRun != nil }
    let here = Set(closed.filter { $0.zone == zone }.map(\.month))
    for state in closed where state.zone != zone && !here.contains(state.month) {
      log.warning(
        """
        \(state.month.text) is closed in \(state.zone), this run is in \(zone): its numbers are \
        not compared with the close. Run with --timezone \(state.zone)
        """, metadata: ["code": "closed_elsewhere", "month": "\(state.month.text)"])
    }
  }

  /// Explains why a month cannot be reopened, with the time zones in which it is closed.
  private func notClosed(
    _ month: Month, in zone: String, of ledger: Ledger
  ) throws -> SubledgerError {
    let zones = try zones(closing: month, in: ledger)
    guard !zones.isEmpty else {
      return SubledgerError(
        .usage, "cannot reopen \(month.text): it is not closed",
        hint: "`subledger status` lists the closed months")
    }
    let names = zones.joined(separator: ", ")
    return SubledgerError(
      .usage, "cannot reopen \(month.text): it is closed in \(names), not in \(zone)",
      hint: "publish with that --timezone first")
  }

  /// Returns the time zones in which a month is closed.
  func zones(closing month: Month, in ledger: Ledger) throws -> [String] {
    try ledger.monthStates().filter { $0.month == month && $0.closedRun != nil }.map(\.zone)
  }

  /// The first words of the result when the ledger is a copy.
  var dryRunNotice: String { plan.isDryRun ? "\(RunResult.dryRunNotice)\n" : "" }

  func onLedger(
    to action: String, _ work: (Ledger) throws -> String
  ) throws -> String {
    try requireLedger(to: "\(action) in")
    return try withLedger(work)
  }

  /// Returns the newest published run and its time zone; throws when there is none, with what
  /// follows from that.
  func newestPublication(
    of ledger: Ledger, else consequence: String
  ) throws -> (run: RunRow, zone: String) {
    if let run = try ledger.lastPublished(), let zone = run.zone { return (run, zone) }
    throw SubledgerError(
      .noInput, "the ledger \(plan.ledger) has published nothing, so \(consequence)",
      hint: "publish with `subledger run` first")
  }

  /// Returns a run with the settings of `run`, instead of its own.
  private func following(_ run: RunRow, in ledger: Ledger) throws -> RunPipeline {
    guard run.version == version else {
      throw SubledgerError(
        .tryAgain,
        "run \(run.id) was published by version \(run.version) of the program, not \(version)",
        hint: "publish with `subledger run` or `subledger report`, and close then")
    }
    return following(try history(of: run.id, in: ledger).plan)
  }

  private func check(
    _ frozen: FrozenMonth, _ month: String, _ run: RunRow, isForced: Bool
  ) throws {
    guard frozen.reports.contains(where: { $0.report.hasSuffix("_monthly") }) else {
      throw SubledgerError(
        .usage, "cannot close \(month): no report of run \(run.id) has a row of it",
        hint: "`subledger status` lists the months that there are")
    }
    guard frozen.unpublished == 0 else {
      throw SubledgerError(
        .tryAgain,
        "cannot close \(month): \(frozen.unpublished) rows differ from the published rows "
          + "of run \(run.id), because the ledger has ingested more since",
        hint: "publish with `subledger run` or `subledger report`, and close then")
    }
    guard frozen.incomplete.isEmpty || isForced else {
      let rows = frozen.incomplete.sorted { $0.key < $1.key }
        .map { "\($0.value) of \($0.key)" }.joined(separator: ", ")
      throw SubledgerError(
        .tryAgain,
        "cannot close \(month): as of \(run.asOf.text) later deliveries can still change rows: "
          + rows,
        hint: "close after a run whose is_complete is true for all rows of the month, or freeze "
          + "them as they are with --force and --reason")
    }
    guard run.reservations.isEmpty || isForced else {
      throw SubledgerError(
        .usage,
        "cannot close \(month): run \(run.id) published with reservations: \(run.reservations)",
        hint: "resolve or decide what they name and publish again, or freeze the numbers as they "
          + "are with --force and --reason")
    }
  }

  /// Returns the content of a close, one fact per line.
  private func content(of frozen: FrozenMonth, _ run: RunRow) -> String {
    let options = sha256(of: Array(run.options.utf8))
    let forced = frozen.incomplete.values.reduce(0, +)
    let reasons = run.reservations
    return
      (["run \(run.id) as of \(run.asOf.text)", "version \(run.version)", "options \(options)"]
      + (forced > 0 ? ["forced: \(forced) rows can still change"] : [])
      + (reasons.isEmpty ? [] : ["published with reservations: \(reasons)"])
      + frozen.reports.map { "\($0.report) \($0.rows.count) \($0.sha256)" })
      .joined(separator: "\n")
  }
}
