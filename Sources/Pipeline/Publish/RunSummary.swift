import Domain
import EventStore
import Reports

/// The result of a run, for a terminal, a mail or a chat: whether the numbers are reliable,
/// revenue, missing events, and what to do.
///
/// Every number is a cell of the published set or a sum of cells; persons are not named.
public struct RunSummary: Sendable, Equatable {
  /// One line for a terminal, without a line end.
  public let line: String
  /// Path of the set's page.
  public let page: String
  /// Text for a mail, with a line end.
  public let text: String
  /// Markdown for a chat.
  public let markdown: String
  /// One JSON object for programs.
  public let json: String

  init(
    of set: ReportSet, after intake: IntakeSummary, reservations: [String], breaks: [BreakCount]
  ) throws {
    let months = try Cube(
      CubeShape("summary_monthly", by: ["period"], of: Self.measures), of: set)
    let open = breaks.filter(\.isOpen)
    let state =
      reservations.isEmpty ? "without reservations" : reservations.joined(separator: "; ")
    let facts: Record = [
      "set": .name(set.folder), "page": .name("\(set.folder)/index.html"),
      "as_of": CSVCell(set.manifest.asOf), "state": .plain(state),
    ]
    let counts = intake.record
    let tables: [Record.Table] = [
      ("months", Self.newest(3, of: months, in: set)), ("open_breaks", open.map(\.record)),
      ("worklist", try Self.worklist(of: set)),
    ]
    page = "\(set.folder)/index.html"
    line = Self.line(of: set, intake, months, open)
    text = (facts + counts).text(above: tables) + "\n"
    markdown =
      ([Record.markdown([facts]), Record.markdown([counts])]
      + tables.filter { !$0.1.isEmpty }.map { name, records in
        ["**\(name.replacing("_", with: " "))**", ""] + Record.markdown(records)
      }).map { $0.joined(separator: "\n") + "\n" }.joined(separator: "\n")
    let reasons = JSONValue.array(reservations.map(JSONValue.string))
    let whole = facts.json(with: ["input": counts.json(), "reservations": reasons], tables)
    json = String(decoding: whole.document(), as: UTF8.self)
  }

  private static let measures = [
    "net_usd", "proceeds_usd", "mrr_close", "active_close", "new", "churned", "open_breaks",
    "missing_usd", "restated_usd",
  ]

  /// Returns the sums of the last months over all apps.
  private static func newest(_ count: Int, of months: Cube, in set: ReportSet) -> [Record] {
    let columns = set.tables(of: "summary_monthly").flatMap(\.columns)
    let integers = Set(columns.filter { $0.type == "integer" }.map(\.name))
    return months.values(of: "period").suffix(count).map { period in
      let cells = measures.map { name -> (String, CSVCell) in
        guard let sum = months.sum(name, [period]) else { return (name, .plain("")) }
        return integers.contains(name)
          ? (name, .integer(Int64(clamping: sum / 1_000_000))) : (name, .plain(amountText(sum)))
      }
      return Record(
        [("period", .plain(period))] + cells
          + [("is_complete", .plain("\(!months.incomplete.contains(period))"))])
    }
  }

  private static func line(
    of set: ReportSet, _ intake: IntakeSummary, _ months: Cube, _ open: [BreakCount]
  ) -> String {
    var parts = ["\(set.folder.shown()) as of \(set.manifest.asOf.text)"]
    if intake.archivesRead + intake.archivesKnown > 0 {
      parts.append(
        "\(counted(intake.archivesRead, "new archive")), \(counted(intake.counts.lines, "line")), "
          + "\(intake.counts.rejected) rejected")
    }
    let periods = months.values(of: "period")
    if let period = periods.last(where: { !months.incomplete.contains($0) }) ?? periods.last,
      let net = months.sum("net_usd", [period])
    {
      let still = months.incomplete.contains(period) ? " so far" : ""
      parts.append("net revenue of \(period)\(still) \(amountText(net)) USD")
    }
    let missing = open.reduce(Int128(0)) { $0 + Int128($1.estimatedUSD?.micros ?? 0) }
    let count = open.reduce(0) { $0 + $1.count }
    parts.append(
      counted(count, "open break") + (missing == 0 ? "" : " worth \(amountText(missing)) USD"))
    return parts.joined(separator: "; ")
  }

  /// Returns the first rows of the worklist, without persons.
  private static func worklist(of set: ReportSet) throws -> [Record] {
    let columns = ["priority", "provider", "app_id", "at_stake_usd", "hours_left", "break_ids"]
    struct Enough: Error {}
    var rows: [Record] = []
    do {
      try set.forEachRow(of: "refetch_worklist", columns) { cells in
        let record = zip(columns, cells).map { name, text -> (String, CSVCell) in
          let isNumber = ["priority", "hours_left"].contains(name)
          return (name, isNumber ? Int64(text).map(CSVCell.integer) ?? .plain("") : .plain(text))
        }
        rows.append(Record(record))
        if rows.count == 5 { throw Enough() }
      }
    } catch is Enough {}
    return rows
  }
}

extension RunPipeline {
  /// Writes a summary as configured, in the format of the file's extension; `put` writes to
  /// standard output.
  ///
  /// - Throws: `SubledgerError` when the file cannot be written; the set is already published.
  public func write(_ summary: RunSummary, put: ([UInt8]) throws -> Void) throws {
    guard let file = plan.summary else { return }
    let place = file.path
    let isJSON = place.hasSuffix(".json")
    let text = isJSON ? summary.json : place.hasSuffix(".md") ? summary.markdown : summary.text
    guard place != "-" else { return try put(Array(text.utf8)) }
    try replace(
      file, with: text, doing: "write the summary \(place.shown()); the reports are published")
  }
}

extension IntakeSummary {
  var record: Record {
    [
      "archives_read": .integer(Int64(archivesRead)),
      "archives_known": .integer(Int64(archivesKnown)),
      "archives_damaged": .integer(Int64(archivesDamaged)),
      "files_unreadable": .integer(Int64(unreadable.count)), "lines": .integer(counts.lines),
      "accepted": .integer(counts.accepted), "duplicates": .integer(counts.duplicates),
      "skipped": .integer(counts.skipped), "rejected": .integer(counts.rejected),
      "snapshots": .integer(snapshots), "snapshots_rejected": .integer(snapshotsRejected),
    ]
  }
}
