import EventStore
import Reports
import Domain

/// One part of an explained subject, with its events.
struct Entry {
  /// Business time; nil if it has none.
  var at: Instant?
  var step: String
  /// Its contributions, by column; an empty text is an unknown amount.
  var contributions: [(column: String, text: String)] = []
  var breakID = ""
  /// The event that carries it, followed by other events as context.
  var events: [Record] = []

  /// One row per column, followed by one per context event.
  var rows: [Record] {
    func row(_ column: String, _ contribution: String, _ role: String, _ event: Record?) -> Record {
      let entry: Record = [
        "at": CSVCell(at), "step": .text(step), "column": .plain(column),
        "contribution": .plain(contribution), "role": .plain(role), "break_id": .plain(breakID),
      ]
      return entry + (event ?? [:])
    }
    let parts = contributions.isEmpty ? [("", "")] : contributions
    return parts.map { row($0.0, $0.1, "carries", events.first) }
      + events.dropFirst().map { row("", "", "context", $0) }
  }

  var lines: [String] {
    let parts = contributions.map { column, text in
      let sign = text.hasPrefix("-") || text.isEmpty ? "" : "+"
      return "\(column) \(text.isEmpty ? "unknown" : sign + text)"
    }
    let head = [at?.text ?? "", step, breakID].filter { !$0.isEmpty }.joined(separator: "  ")
    let tail = parts.isEmpty ? "" : ": \(parts.joined(separator: ", "))"
    return ["", head + tail]
      + events.enumerated().flatMap { Self.lines(of: $1, after: $0 == 0 ? "by" : "after") }
  }

  /// Returns lines with the content of the event, its subscription and its location.
  private static func lines(of event: Record, after word: String) -> [String] {
    func part(_ before: String, _ name: String) -> String {
      let text = event[name].shown
      return text.isEmpty ? "" : "\(before) \(text)"
    }
    return [
      "  \(word) \(event["kind"].raw)" + part(", reported as", "reported_as")
        + part(" of", "event_at") + part(",", "provider")
        + part(", subscription", "subscription_id")
        + part(", transaction", "transaction_id") + part(", user", "user_id"),
      "   " + part("", "archive") + part(" line", "line") + part(" byte", "byte_offset")
        + part(", body", "body") + part(", received", "received_at"),
    ]
  }
}

/// Writes an explanation: its parts in the order of calls, and then its entries by business time.
///
/// A number may depend on millions of events, so written entries wait in a temporary table, which
/// SQLite sorts on disk.
final class Explanation {
  private let ledger: Ledger
  private let format: AnswerFormat
  private let write: ([UInt8]) throws -> Void
  private var isBegun = false

  init(
    _ ledger: Ledger, format: AnswerFormat, write: @escaping ([UInt8]) throws -> Void
  ) throws {
    self.ledger = ledger
    self.format = format
    self.write = write
    try ledger.rows(sql: "create temp table explained (at_ms, output)") { _ in }
  }

  func begin(_ subject: Record) throws {
    if format == .csv, !isBegun { try line(csvLine(Self.columns.map(CSVCell.plain))) }
    if isBegun, format == .text { try line("") }
    isBegun = true
    try part("subject", subject, text: subject.lines)
  }

  /// Writes a number of a report, or a sentence; not in CSV, which contains only entries.
  func part(_ kind: String, _ record: Record, text: [String]) throws {
    switch format {
    case .csv: break
    case .text: for text in text { try line(text) }
    case .json: try line((["is": .plain(kind)] + record).json().line)
    }
  }

  func note(_ text: String) throws {
    try part("note", ["text": .plain(text)], text: [text])
  }

  /// Stores an entry for `finish`.
  func add(_ entry: Entry) throws {
    let lines: [[UInt8]] =
      switch format {
      case .csv: entry.rows.map { $0.csv(Self.columns) }
      case .text: entry.lines.map { Array($0.shown().utf8) }
      case .json: entry.rows.map { (["is": .plain("entry")] + $0).json().line }
      }
    let output = lines.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    let time = entry.at.map { LedgerValue.integer($0.milliseconds) } ?? .null
    try ledger.rows(
      sql: "insert into temp.explained values (?, ?)", arguments: [time, .text(output)]
    ) { _ in }
  }

  /// Writes the entries by business time, then in the order of addition, and removes them.
  func finish() throws {
    let sql = "select output from temp.explained order by at_ms is null, at_ms, rowid"
    try ledger.rows(sql: sql) { row in try line(row.text(0).utf8) }
    try ledger.rows(sql: "delete from temp.explained") { _ in }
  }

  private func line(_ text: String) throws { try line(text.shown().utf8) }

  private func line(_ bytes: some Sequence<UInt8>) throws {
    try write(bytes + [UInt8(ascii: "\n")])
  }

  private static let columns = [
    "at", "step", "column", "contribution", "role", "break_id", "provider", "app_id",
    "environment", "store", "user_id", "subscription_id", "transaction_id", "product_id", "kind",
    "reported_as", "event_at", "created_at", "received_at", "archive", "sha256", "line",
    "byte_offset", "body",
  ]
}
