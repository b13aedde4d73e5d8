import Foundation
import Reports
import Domain

extension DrillResult {
  /// The result for a person to read.
  public var text: String {
    let total = damages.reduce(0) { $0 + $1.events }
    let parts = damages.map { "\($0.events) \($0.kind)" }.joined(separator: ", ")
    var lines = ["as of \(asOf.text): \(total) events of as many users damaged: \(parts)"]
    lines.append(
      line([
        "code", "injected", "found", "missed", "unrevealed", "false", "recall", "precision",
      ]))
    for row in rows {
      lines.append(
        line([
          row.code, "\(row.injected)", "\(row.found)", "\(row.missed)",
          "\(row.unrevealedCount)", "\(row.wrong)", shown(row.recall), shown(row.precision),
        ]))
      if !row.unrevealed.isEmpty { lines.append("  unrevealed: \(row.reasons)") }
      if row.renamed > 0 { lines.append("  found under another code: \(row.renamed)") }
    }
    lines += notes.prefix(Self.notesShown).map { $0.shown() }
    if notes.count > Self.notesShown { lines.append("… and \(notes.count - Self.notesShown) more") }
    return lines.joined(separator: "\n")
  }

  private static let notesShown = 20

  /// Writes `drill.csv` into `folder`, which is made when missing.
  public func write(into folder: String) throws(SubledgerError) {
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw SubledgerError(
        .cannotCreate, "cannot make the folder \(folder.shown()): \(error.cause)",
        hint: "check the path given as --out")
    }
    try attempt { try writeDrill(rows, to: "\(folder)/drill.csv") }
  }

  /// The code to the left, numbers to the right.
  private func line(_ cells: [String]) -> String {
    cells.enumerated().map { index, cell in
      let gap = String(repeating: " ", count: max(1, (index == 0 ? 23 : 11) - cell.count))
      return index == 0 ? cell + gap : gap + cell
    }.joined()
  }

  /// Millionths as percent with two decimals; `-` for nothing.
  private func shown(_ share: Int64?) -> String {
    guard let share else { return "-" }
    let hundredths = (share + 50) / 100
    let decimals = String(hundredths % 100)
    return "\(hundredths / 100).\(decimals.count < 2 ? "0" : "")\(decimals)%"
  }
}
