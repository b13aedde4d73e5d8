import EventStore
import Foundation
import Reports
import Domain

/// The damages of a drill, and which of them were found.
public struct DrillResult: Sendable {
  /// Business time of both reconciliations.
  let asOf: Instant
  /// Damaged events by kind, in the order of `DamageKind`.
  let damages: [(kind: String, events: Int)]
  /// Results by code.
  let rows: [DrillRow]
  /// Results for lost events, by kind of event.
  let kinds: [DrillRow]
  /// Each damage that was not found although the data shows it, and each break of a damaged user
  /// that the damage does not explain.
  let notes: [String]

  /// The result for a person.
  public var text: String {
    let total = damages.reduce(0) { $0 + $1.events }
    let parts = damages.map { "\($0.events) \($0.kind)" }.joined(separator: ", ")
    var lines = ["as of \(asOf.text): \(total) events of as many users damaged: \(parts)"]
    lines += Record.table(rows.map { $0.record() })
    lines += Record.table(kinds.map { $0.record(by: "kind") })
    lines += notes.prefix(Self.notesShown).map { $0.shown() }
    if notes.count > Self.notesShown { lines.append("… and \(notes.count - Self.notesShown) more") }
    return lines.joined(separator: "\n")
  }

  private static let notesShown = 20

  /// Writes `drill.csv` and `drill_kinds.csv` into `folder`, which is created if missing.
  public func write(into folder: String) throws {
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw SubledgerError(
        .cannotCreate, "cannot make the folder \(folder.shown()): \(error.cause)",
        hint: "check the path given as --out")
    }
    for (file, key, rows) in [("drill", "code", rows), ("drill_kinds", "kind", kinds)] {
      let names = DrillRow(code: "").record(by: key).fields.map(\.name)
      let lines = [csvLine(names.map(CSVCell.plain))] + rows.map { $0.record(by: key).csv(names) }
      let bytes = lines.flatMap { $0 + [UInt8(ascii: "\n")] }
      try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/\(file).csv"))
    }
  }
}

extension DrillRow {
  /// Returns the row with `key` as first column.
  func record(by key: String = "code") -> Record {
    func share(of whole: Int64) -> CSVCell {
      .plain(
        whole > 0
          ? Amount(micros: rateMillionths(found, over: whole)).text(decimalsMin: 6) : "")
    }
    let reasons = unrevealed.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    return Record([
      (key, .plain(code)), ("injected", .integer(injected)), ("found", .integer(found)),
      ("renamed", .integer(renamed)), ("missed", .integer(missed)),
      ("unrevealed", .integer(unrevealed.values.reduce(0, +))), ("false", .integer(wrong)),
      ("recall", share(of: found + missed)), ("precision", share(of: found + wrong)),
      ("unrevealed_reasons", .text(reasons.joined(separator: "; "))),
    ])
  }
}
