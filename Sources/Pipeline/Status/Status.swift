import EventStore
import Foundation
import Reports
import Domain

extension RunPipeline {
  /// What the ledger holds, for a person to read or as one JSON object.
  public func status(as format: AnswerFormat) throws(SubledgerError) -> String {
    let path = Record([("ledger", .name(plan.ledger))])
    guard let ledger = try ledgerIfThere() else {
      return format == .json
        ? path.json(with: ["exists": .bool(false)]).documentText
        : "the ledger \(plan.ledger.shown()) does not exist yet: nothing was read"
    }
    return try attempt {
      try ledger.atOneMoment {
        let size = try sizeRecord(ledger)
        let tables = try statusTables(of: ledger)
        if format == .json {
          let lists = tables.map { ($0.name, JSONValue.array($0.records.map(\.json))) }
          let members = Dictionary(uniqueKeysWithValues: lists + [("exists", .bool(true))])
          return (path + size).json(with: members).documentText
        }
        let zone = try ledger.lastPublished().flatMap { try ledger.zone(of: $0.id) } ?? ""
        let sections = tables.filter { !$0.records.isEmpty }.map { name, records in
          [name] + Record.table(Self.shown(records, of: name, zone)).map { "  " + $0 }
        }
        return ([(path + size).lines] + sections).map { $0.joined(separator: "\n") }
          .joined(separator: "\n\n")
      }
    }
  }

  /// The ledger, only to be read; nil where there is none yet, also while the first run of all
  /// makes the file.
  private func ledgerIfThere() throws(SubledgerError) -> Ledger? {
    do {
      return try Ledger.open(path: plan.ledger, mode: .readOnly)
    } catch {
      guard error.kind == .missing else { throw SubledgerError(error) }
      return nil
    }
  }

  /// What a person reads of a table: the newest runs, and the newest months of the newest set's
  /// time zone and those closed in others.
  private static func shown(_ records: [Record], of table: String, _ zone: String) -> [Record] {
    switch table {
    case "runs": return Array(records.prefix(5))
    case "months":
      let others = records.filter { $0["timezone"].raw != zone && $0["state"].raw == "closed" }
      return records.filter { $0["timezone"].raw == zone }.prefix(13) + Array(others.prefix(13))
    default: return records
    }
  }

  /// The size of the file with its write-ahead log.
  private func sizeRecord(_ ledger: Ledger) throws -> Record {
    let bytes = LedgerFiles(of: plan.ledger).content.reduce(Int64(0)) { sum, path in
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      return sum + Int64((attributes?[.size] as? Int) ?? 0)
    }
    let accepted = try ledger.archives().filter { $0.kind == .events }
      .reduce(0) { $0 + $1.tallies.accepted }
    return Record([
      ("bytes", .integer(bytes)), ("accepted", .integer(accepted)),
      ("bytes_per_accepted_line", accepted > 0 ? .integer(bytes / accepted) : .plain("")),
    ])
  }

  private func statusTables(of ledger: Ledger) throws -> [(name: String, records: [Record])] {
    let words = ledger.symbols.words
    return [
      ("archives", try [ArchiveKind.events, .snapshots].map { Record($0, try ledger.archives()) }),
      ("runs", try ledger.runs(newest: .max).map(Record.init)),
      ("feeds", try ledger.watermarks().map { Record($0, words) }),
      ("months", try ledger.monthStates().map(Record.init)),
      ("breaks", try ledger.breakCounts().map(Record.init)),
      ("acts", try ledger.acts().map(Record.init)),
    ]
  }
}

extension Record {
  fileprivate init(_ kind: ArchiveKind, _ archives: [ArchiveRecord]) {
    let files = archives.filter { $0.kind == kind }
    var sum = ArchiveTallies()
    for file in files { sum.add(file.tallies) }
    func count(_ status: ArchiveStatus) -> CSVCell {
      .integer(Int64(files.count { $0.status == status }))
    }
    self.init([
      ("kind", .plain(kind.rawValue)), ("files", .integer(Int64(files.count))),
      ("repeated", count(.repeated)), ("damaged", count(.damaged)), ("lines", .integer(sum.lines)),
      ("accepted", .integer(sum.accepted)), ("duplicates", .integer(sum.duplicates)),
      ("skipped", .integer(sum.skipped)), ("rejected", .integer(sum.rejected)),
    ])
  }

  fileprivate init(_ run: RunRow) {
    self.init([
      ("run", .integer(run.id)), ("as_of", CSVCell(run.asOf)), ("version", .plain(run.version)),
      ("archives", .integer(run.archives)), ("lines", .integer(run.tallies.lines)),
      ("accepted", .integer(run.tallies.accepted)),
      ("duplicates", .integer(run.tallies.duplicates)),
      ("skipped", .integer(run.tallies.skipped)), ("rejected", .integer(run.tallies.rejected)),
      ("published", .plain(run.published ?? "")),
    ])
  }

  fileprivate init(_ feed: Watermark, _ words: [String]) {
    self.init([
      ("provider", .plain(feed.provider.name)), ("app_id", .text(words[Int(feed.app)])),
      ("newest_input", CSVCell(feed.newest)), ("first_event", CSVCell(feed.firstEvent)),
    ])
  }

  fileprivate init(_ state: MonthState) {
    self.init([
      ("month", .plain(state.month.text)), ("timezone", .plain(state.zone)),
      ("state", .plain(state.standing.rawValue)), ("rows", .integer(state.rows)),
      ("incomplete_rows", .integer(state.incompleteRows)),
      ("closed_run", state.closedRun.map(CSVCell.integer) ?? .plain("")),
    ])
  }

  fileprivate init(_ count: BreakCount) {
    self.init([
      ("status", .plain(count.status)), ("severity", .plain(count.severity)),
      ("code", .plain(count.code)), ("count", .integer(count.count)),
      ("missing_events", .integer(count.missingEvents)),
      ("estimated_usd", .plain(count.estimatedUSD.text())),
      ("without_estimate", .integer(count.withoutEstimate)), ("oldest", CSVCell(count.oldest)),
    ])
  }

  fileprivate init(_ act: AuditEntry) {
    self.init([
      ("act", .integer(act.id)), ("after_run", .integer(act.run)),
      ("what", .plain(act.deed.rawValue)), ("month", .plain(act.month?.text ?? "")),
      ("reason", .text(act.reason)), ("who", .text(act.who)),
    ])
  }
}
