import EventStore
import Reports
import Domain

extension RunPipeline {
  /// Returns the state of the ledger, as text for a person or as one JSON object.
  ///
  /// - Parameter ageMax: maximum age of the newest run's as-of, such as `26h`.
  /// - Throws: `SubledgerError` of kind `noInput` when there is no ledger.
  public func status(asJSON isJSON: Bool, ageMax: String) throws -> String {
    let ledger = try Ledger.open(path: plan.ledger, mode: .readOnly)
    try ledger.requireSealed()
    return try ledger.atOneMoment {
      let health = try plan.health(of: ledger, ageMax: ageMax)
      let archives = try ledger.archives()
      let bytes = plan.ledgerBytes
      let accepted = archives.reduce(0) { $0 + ($1.kind == .events ? $1.counts.accepted : 0) }
      let summary: Record = [
        "ledger": .name(plan.ledger), "bytes": .integer(bytes), "accepted": .integer(accepted),
        "bytes_per_accepted_line": accepted > 0 ? .integer(bytes / accepted) : .plain(""),
      ]
      let runs = try ledger.runs(newest: .max)
      let lags = try ledger.creationLags()
      let feeds = try ledger.watermarks(asOf: runs.first?.asOf ?? plan.rules.asOf)
      let tables: [Record.Table] = [
        ("archives", [ArchiveKind.events, .snapshots].map { $0.record(of: archives) }),
        ("runs", runs.map(\.record)), ("feeds", feeds.map { $0.record(lags[$0.feed]) }),
        ("months", try ledger.monthStates().map(\.record)),
        ("breaks", try ledger.breakCounts().map(\.record)),
        ("acts", try ledger.acts().map(\.record)),
      ]
      if isJSON {
        let problems = JSONValue.array(health.problems.map(JSONValue.string))
        let answer = summary.json(with: ["exists": .bool(true), "problems": problems], tables)
        return String(decoding: answer.document().dropLast(), as: UTF8.self)
      }
      let zone = try ledger.lastPublished()?.zone ?? ""
      let shown: [Record.Table] = tables.map { name, records in
        (name, Self.shown(records, of: name, zone))
      }
      let lines = Record(health.lines.map { ("health", .plain($0)) })
      return (lines + summary).text(above: shown)
    }
  }

  /// Returns the rows of a table that a person sees: the newest runs, and the newest months of the
  /// newest set's time zone and those closed in others.
  private static func shown(_ records: [Record], of table: String, _ zone: String) -> [Record] {
    switch table {
    case "runs": return Array(records.prefix(5))
    case "months":
      let others = records.filter { $0["timezone"].raw != zone && $0["state"].raw == "closed" }
      return records.filter { $0["timezone"].raw == zone }.prefix(13) + Array(others.prefix(13))
    default: return records
    }
  }
}

extension ArchiveKind {
  func record(of archives: [ArchiveRecord]) -> Record {
    let all = archives.filter { $0.kind == self }
    var sum = ArchiveCounts()
    for archive in all { sum.add(archive.counts) }
    // A file that grew or was completed is one, in its last state.
    let read = all.filter { $0.status != .repeated }
    let newest = Dictionary(read.map { ($0.stream, $0) }, uniquingKeysWith: { $1 }).values
    let files = newest + all.filter { $0.status == .repeated }
    func count(_ status: ArchiveStatus) -> CSVCell {
      .integer(Int64(files.count { $0.status == status }))
    }
    return [
      "kind": .plain(rawValue), "files": .integer(Int64(files.count)), "repeated": count(.repeated),
      "damaged": count(.damaged), "lines": .integer(sum.lines), "accepted": .integer(sum.accepted),
      "duplicates": .integer(sum.duplicates), "skipped": .integer(sum.skipped),
      "rejected": .integer(sum.rejected),
    ]
  }
}

extension RunRow {
  /// Why the run published with reservations, in one text; empty without any.
  var reservations: String { qualified.joined(separator: "; ") }

  var record: Record {
    [
      "run": .integer(id), "as_of": CSVCell(asOf), "version": .plain(version),
      "archives": .integer(archives), "lines": .integer(counts.lines),
      "accepted": .integer(counts.accepted), "duplicates": .integer(counts.duplicates),
      "skipped": .integer(counts.skipped), "rejected": .integer(counts.rejected),
      "published": .plain(published ?? ""), "qualified": .text(reservations),
    ]
  }
}

extension Watermark {
  func record(_ lag: Interval?) -> Record {
    [
      "provider": .plain(feed.provider.name), "app_id": .text(app), "newest_input": CSVCell(newest),
      "begin": CSVCell(begin), "silence_max_s": .integer(gapMax.milliseconds / 1000),
      "creation_lag_s": lag.map { .integer($0.milliseconds / 1000) } ?? .plain(""),
    ]
  }
}

extension MonthState {
  var record: Record {
    [
      "month": .plain(month.text), "timezone": .plain(zone), "state": .plain(status.rawValue),
      "rows": .integer(rows), "incomplete_rows": .integer(incompleteRows),
      "closed_run": closedRun.map(CSVCell.integer) ?? .plain(""),
    ]
  }
}

extension BreakCount {
  var record: Record {
    [
      "status": .plain(status), "severity": .plain(severity), "code": .plain(code),
      "count": .integer(count), "missing_events": .integer(missingEvents),
      "estimated_usd": .plain(estimatedUSD?.text() ?? ""),
      "without_estimate": .integer(withoutEstimate), "oldest": CSVCell(oldest),
    ]
  }
}

extension AuditEntry {
  var record: Record {
    [
      "act": .integer(id), "after_run": .integer(run), "what": .plain(action.rawValue),
      "month": .plain(month?.text ?? ""), "reason": .text(reason), "who": .text(who),
    ]
  }
}
