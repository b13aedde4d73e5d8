import Domain
import EventStore
import Foundation
import Reports

/// The damages of a drill, and which of them were found.
public struct DrillResult {
  /// Business time of both reconciliations.
  let asOf: Instant
  let before: DrillFindings
  let after: DrillFindings
  private(set) var damages: [DamageKind] = []
  private(set) var counts: [String: DrillRow] = [:]
  private(set) var lost: [String: DrillRow] = [:]
  /// Each damage that was not found although the data shows it, and each break of a damaged user
  /// that the damage does not explain.
  private(set) var notes: [String] = []

  /// Results in the order of the codes, duplicates last.
  var rows: [DrillRow] {
    (BreakCode.allCases.map(\.rawValue) + [Self.duplicate]).compactMap { counts[$0] }
  }

  /// Results for lost events, by kind of event.
  var kinds: [DrillRow] { EventKind.allCases.compactMap { lost[$0.name] } }

  private static let duplicate = "duplicate"

  private mutating func add(_ code: String, _ change: (inout DrillRow) -> Void) {
    change(&counts[code, default: DrillRow(code: code)])
  }

  /// Counts damages that are found as counts, not one by one.
  private mutating func add(_ code: String, expected: Int64, counted: Int64) {
    guard expected > 0 || counted > 0 else { return }
    add(code) { row in
      row.injected += expected
      row.found += min(expected, max(0, counted))
      row.wrong += max(0, counted - expected)
    }
  }

  /// Counts every damage; `duplicates` deliveries were recognised as duplicates.
  mutating func count(_ damages: [Damage], _ evidence: DrillEvidence, duplicates: Int64) {
    self.damages = damages.map(\.kind)
    var found = after.breaks.filter { before.breaks[$0.key] == nil }
    var byHolder: [BreakHolder: [String]] = [:]
    for item in found.values {
      for holder in item.holders { byHolder[holder, default: []].append(item.id) }
    }
    for damage in damages {
      let ids = Set(damage.candidate.row.holders.flatMap { byHolder[$0] ?? [] })
      let own = ids.sorted().compactMap { found.removeValue(forKey: $0) }
      count(damage, found: own, evidence)
    }
    for wrong in found.values.sorted(by: { $0.id < $1.id }) {
      add(wrong.code.rawValue) { $0.wrong += 1 }
      notes.append("false \(wrong.code.rawValue) of subscription \(wrong.subscription)")
    }
    countArrivals(damages)
    let expected = Int64(damages.count { $0.kind == .duplicated })
    add(Self.duplicate, expected: expected, counted: duplicates)
  }

  private mutating func count(_ damage: Damage, found: [Break], _ evidence: DrillEvidence) {
    let event = damage.candidate.event
    let code = damage.expected.first { !$0.isAboutArrival }
    let match =
      found.firstIndex { $0.code == code }
      ?? found.firstIndex { code?.isMissing == true && $0.code.isMissing }
      ?? found.firstIndex { code?.isMissing == true && $0.code == .eventsAbsent }
    let about =
      "after \(event.kind.name) of \(event.time.text), subscription "
      + "\(damage.candidate.row.original), was \(damage.kind.rawValue)"
    for (index, wrong) in found.enumerated() where index != match {
      if wrong.code.isAboutArrival, damage.expected.contains(wrong.code) { continue }
      add(wrong.code.rawValue) { $0.wrong += 1 }
      notes.append("false \(wrong.code.rawValue) \(about)")
    }
    guard let code else { return }
    let excuse = match == nil && code.isMissing ? evidence.excuse(for: damage) : nil
    func score(_ row: inout DrillRow) {
      row.injected += 1
      if let match {
        row.found += 1
        if found[match].code != code { row.renamed += 1 }
      } else if let excuse {
        row.unrevealed[excuse, default: 0] += 1
      }
    }
    add(code.rawValue, score)
    if damage.kind == .removed {
      score(&lost[event.kind.name, default: DrillRow(code: event.kind.name)])
    }
    if match == nil, excuse == nil { notes.append("missed \(code.rawValue) \(about)") }
  }

  /// Counts late and out-of-order deliveries by day and kind, as they are not raised one by one.
  private mutating func countArrivals(_ damages: [Damage]) {
    var expected: [ArrivalKey: [BreakCode]] = [:]
    for damage in damages {
      guard let event = damage.delivered else { continue }
      let key = ArrivalKey(
        day: CivilCalendar.utc.day(of: event.arrivedAt),
        provider: event.provider, kind: event.kind)
      expected[key, default: []] += damage.expected
    }
    for key in Set(after.arrivals.keys).union(expected.keys) {
      for (code, sum) in [(BreakCode.late, \ArrivalSums.late), (.outOfOrder, \.outOfOrder)] {
        func counted(_ found: DrillFindings) -> Int64 { found.arrivals[key]?[keyPath: sum] ?? 0 }
        let own = expected[key, default: []].count { $0 == code }
        add(code.rawValue, expected: Int64(own), counted: counted(after) - counted(before))
      }
    }
  }
}

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

  /// Throws if a set is published in `folder`, which contains its own `drill.csv`.
  public static func requireNoSet(in folder: String) throws {
    guard try publishedSet(in: folder) != nil else { return }
    throw SubledgerError(
      .cannotCreate, "cannot write drill.csv into \(folder.shown()): a set is published there",
      hint: "give another folder; the next run publishes drill.csv by itself")
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
    return [
      key: .plain(code), "injected": .integer(injected), "found": .integer(found),
      "renamed": .integer(renamed), "missed": .integer(missed),
      "unrevealed": .integer(unrevealed.values.reduce(0, +)), "false": .integer(wrong),
      "recall": share(of: found + missed), "precision": share(of: found + wrong),
      "unrevealed_reasons": .text(reasons.joined(separator: "; ")),
    ]
  }
}
