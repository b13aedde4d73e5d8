import EventStore
import Foundation
import Reports
import Domain

extension DrillResult {
  /// The result for a person.
  public var text: String {
    let parts = DamageKind.allCases.map { kind in
      "\(damages.count { $0 == kind }) \(kind.rawValue)"
    }.joined(separator: ", ")
    var lines = ["as of \(asOf.text): \(damages.count) events of as many users damaged: \(parts)"]
    lines += Record.table(rows.map { $0.record() })
    lines += Record.table(kinds.map { $0.record(by: "kind") })
    lines += notes.prefix(20).map { $0.shown() }
    if notes.count > 20 { lines.append("… and \(notes.count - 20) more") }
    return lines.joined(separator: "\n")
  }

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
