public import Domain
internal import Formats

/// A close that is in effect.
public struct MonthClose: Sendable, Equatable {
  /// The audit entry of the close.
  public var act: Int64
  /// The run whose numbers were frozen.
  public var run: Int64
  /// Business time of that run.
  public var asOf: Instant
}

/// The rows of a report, named without `.csv`, that a close freezes, in the order of the report.
///
/// The digest is of the rows as exact CSV without header, as 64 hexadecimal digits; the totals are
/// the sums of columns, a JSON object with sorted keys.
public typealias ClosedReport = (report: String, sha256: String, totals: String, rows: [ReportRow])

extension Ledger {
  /// Closes `act.month` with the numbers of `reports`; returns the entry's number.
  ///
  /// The entry contains the digest of each report's rows and sums as they are stored.
  public func close(_ act: AuditEntry, _ reports: [ClosedReport]) throws(SubledgerError) -> Int64 {
    try change("close a month") { database in
      var act = act
      for report in reports {
        let digest = sha256(of: report.rows.packed + report.totals.utf8)
        act.content += "\n\(Self.stored)\(report.report) \(digest)"
      }
      let id = try record(act)
      for report in reports {
        try database.run(
          """
          insert into closed_report (act, report, sha256, row_count, totals, rows)
          values (?, ?, ?, ?, ?, ?)
          """, id, report.report, report.sha256, report.rows.count, report.totals,
          report.rows.packed)
      }
      return id
    }
  }

  /// Returns the closes of months in `zone` that were in effect when `run` began.
  ///
  /// A rollback to a run leaves out entries with its number or a later one.
  public func closes(
    zone: String, knownTo run: Int64
  ) throws(SubledgerError) -> [Month: MonthClose] {
    // With `max`, SQLite takes the other columns from the same row.
    let closes = try all(
      "read the closes",
      """
      select act.period, max(act.id), act.run, run.as_of_ms
      from act join run on run.id = act.run
      where act.zone = ? and act.run < ? and act.period is not null
      group by act.period having act.what = 'close'
      """, zone, run
    ) { ($0.month(0), MonthClose(act: $0.int64(1), run: $0.int64(2), asOf: $0.instant(3))) }
    return Dictionary(closes) { $1 }
  }

  private static let stored = "stored "

  /// Returns every report with rows that a close froze, by name; only `name` if given.
  ///
  /// - Throws: `damagedInput` when the rows do not match the digests in the audit entry.
  public func closedReports(
    act: Int64, only name: String? = nil
  ) throws(SubledgerError) -> [ClosedReport] {
    try access("read closed rows") { database in
      var reports: [ClosedReport] = []
      let content = try database.first("select content from act where id = ?", act) { $0.text(0) }
      var digests: [Substring: Substring] = [:]
      for line in (content ?? "").split(separator: "\n") where line.hasPrefix(Self.stored) {
        let words = line.dropFirst(Self.stored.count).split(separator: " ")
        if words.count == 2, name == nil || words[0] == name ?? "" { digests[words[0]] = words[1] }
      }
      try database.forEachRow(
        """
        select report, sha256, totals, rows from closed_report
        where act = ?1 and (?2 is null or report = ?2) order by report
        """, act, name
      ) { row in
        let known = digests.removeValue(forKey: row.text(0)[...])
        guard let known, sha256(of: Array(row.blob(3)) + row.bytes(2)) == known,
          let rows = [ReportRow](packed: row.blob(3))
        else { throw damagedRows(of: row.text(0)) }
        reports.append((row.text(0), row.text(1), row.text(2), rows))
      }
      if let missing = digests.keys.first { throw damagedRows(of: String(missing)) }
      return reports
    }
  }

  /// Returns the error for unreadable stored rows of a report.
  public func damagedRows(of report: String) -> SubledgerError {
    SubledgerError(
      .damagedInput,
      "cannot read the stored rows of \(report) in the ledger \(path): they are damaged",
      hint: "restore the ledger from a backup")
  }
}

/// A month of the reports, and whether its numbers are final.
public struct MonthState: Sendable, Equatable {
  /// How final the numbers are.
  public enum Status: String, Sendable {
    /// Later deliveries can change rows.
    case open
    /// No later delivery is expected to change a row.
    case complete
    /// The numbers are frozen.
    case closed
  }

  /// Time zone of the month.
  public let zone: String
  /// The month.
  public let month: Month
  /// How final its numbers are.
  public let status: Status
  /// Number of rows about it in the monthly reports; zero for a closed month after the as-of of the
  /// newest publication.
  public let rows: Int64
  /// Number of these rows that can still change.
  public let incompleteRows: Int64
  /// The run whose numbers were closed; nil when the month is not closed.
  public let closedRun: Int64?
}

extension Ledger {
  /// Returns months that are closed or in the newest publication of their zone, newest first.
  ///
  /// A month is open as long as it can bring new rows: until it is over for at least one feed, and
  /// while a stale feed has not delivered it, unless that break is decided.
  public func monthStates() throws(SubledgerError) -> [MonthState] {
    // With `max`, SQLite takes the other columns from the same row.
    try all(
      "read the months",
      """
      with last as (
        select zone, period, what, run, max(id) from act where period is not null
        group by zone, period)
      select zone, period, ifnull(row_count, 0), ifnull(incomplete_rows, 0),
        iif(what = 'close', last.run, null),
        period >= ifnull((
          select min(horizon.booked_month) from break_episode as stale
          join string on string.value = stale.app
          join published_horizon as horizon
            on horizon.run = (select max(run) from publication)
            and horizon.provider = stale.provider and horizon.app = string.id
          where stale.code = 'STALE_INPUT' and stale.resolved_ms is null
            and stale.break_id not in (select break_id from decision)
        ), period + 1) or period >= ifnull((
          select max(booked_month) from published_horizon
          where run = (select max(run) from publication)
        ), period + 1)
      from published_month full join last using (zone, period)
      where row_count is not null or what = 'close'
      order by zone, period desc
      """
    ) { row in
      let (incomplete, closedRun) = (row.int64(3), row.optionalInt64(4))
      let isOpen = incomplete > 0 || row.int64(5) != 0
      return MonthState(
        zone: row.text(0), month: row.month(1),
        status: closedRun != nil ? .closed : isOpen ? .open : .complete,
        rows: row.int64(2), incompleteRows: incomplete, closedRun: closedRun)
    }
  }
}
