import Foundation
import EventStore
import Reports
import Domain

/// The close of a packed month: the frozen rows and the acts about them.
struct PackedClose {
  let close: MonthClose
  let act: AuditEntry
  private let month: Month
  private let acts: [AuditEntry]
  private let reports: [ClosedReport]

  /// Nil when the month does not stand closed in `zone`.
  init?(of month: Month, zone: String, in ledger: Ledger) throws {
    guard let close = try ledger.closes(zone: zone, knownTo: .max)[month] else { return nil }
    let acts = try ledger.acts()
    guard let act = acts.first(where: { $0.id == close.act }) else { return nil }
    self.close = close
    self.act = act
    self.month = month
    self.acts = acts
    reports = try ledger.closedReports(act: close.act)
  }

  /// Its description in the pack's manifest.
  var facts: JSONValue {
    .object([
      "act": .integer(close.act), "run": .integer(close.run), "as_of": .string(close.asOf.text),
      "reason": .string(act.reason), "who": .string(act.who), "sha256": .string(act.sha256),
    ])
  }

  /// All acts of the ledger, for the chain seals them together.
  static func acts(_ acts: [AuditEntry]) -> [UInt8] { JSONValue.array(acts.map(\.packed)).document }

  /// Calls `body` with every frozen report as CSV, and its name.
  func forEachFile(
    from ledger: Ledger, _ body: (_ name: String, _ bytes: [UInt8]) throws -> Void
  ) throws {
    try body("closed/acts.json", Self.acts(acts))
    for report in reports {
      guard let path = FrozenMonth.path(of: report.report, month),
        let csv = try FrozenMonth.csv(of: report, month, from: ledger)
      else {
        throw SubledgerError(
          .tryAgain,
          "cannot pack \(month.text): this version prints other rows of \(report.report) than were "
            + "closed",
          hint: "pack it with the version that closed it; `subledger status` names it")
      }
      try body("closed/\(path)", csv)
    }
  }
}

extension AuditEntry {
  /// The act as a pack holds it.
  var packed: JSONValue {
    .object([
      "act": .integer(id), "after_run": .integer(run), "what": .string(deed.rawValue),
      "timezone": .string(zone), "month": month.map { .string($0.text) } ?? .null,
      "reason": .string(reason), "who": .string(who), "content": .string(content),
      "sha256": .string(sha256),
    ])
  }

  /// The acts of a pack; nil when the text is none that a pack holds.
  static func packed(in bytes: Data) -> [AuditEntry]? {
    (try? JSONDecoder().decode([PackedEntry].self, from: bytes)).flatMap { acts in
      let read = acts.compactMap(\.act)
      return read.count == acts.count ? read : nil
    }
  }
}

/// The members of an act as a pack writes them.
private struct PackedEntry: Decodable {
  let number: Int64
  let run: Int64
  let what: String
  let zone: String
  let month: String?
  let reason: String
  let who: String
  let content: String
  let sha256: String

  private enum CodingKeys: String, CodingKey {
    case number = "act"
    case run = "after_run"
    case zone = "timezone"
    case what, month, reason, who, content, sha256
  }

  var act: AuditEntry? {
    guard let deed = AuditEntry.AuditAction(rawValue: what) else { return nil }
    return AuditEntry(
      id: number, run: run, deed: deed, month: month.flatMap { Month(text: $0) }, reason: reason,
      who: who, zone: zone, content: content, sha256: sha256)
  }
}
