import Formats
import Foundation
import EventStore
import Reports
import Domain

/// Checks the frozen numbers of a pack against the audit entry of the close, and the entry against
/// the chain of runs.
struct CloseProof {
  let folder: String
  /// The paths of the pack's files in the folder.
  let files: Set<String>
  let manifest: PackManifest?
  /// The facts of each run of the chain, by number.
  let runs: [Int64: [String: String]]

  /// Returns the check; nil when the pack is of a month that was not closed.
  func check() -> CheckResult? {
    var check = CheckResult("close", unit: "reports")
    guard let close = manifest?.close else {
      guard files.contains(where: { $0.hasPrefix("closed/") }) else { return nil }
      check.fail("closed/ has files, and pack.json names no close")
      return check
    }
    guard let acts = unpackedJSON([AuditEntry].self, at: "\(folder)/closed/acts.json"),
      let act = acts.first(where: { $0.id == close.act }), act.action == .close,
      act.run == close.run, act.month?.text == manifest?.period, KeptAuditEntries(acts).isSound(act)
    else {
      check.fail("closed/acts.json does not contain the close that pack.json names")
      return check
    }
    let undone = acts.contains {
      $0.id > act.id && $0.month == act.month && $0.zone == act.zone && $0.action == .reopen
    }
    if undone { check.fail("the month was opened again after act \(act.id)") }
    checkFiles(of: act, &check)
    checkSeals(of: acts, closing: act, &check)
    return check
  }

  /// Checks the frozen files against the digests in the audit entry, and the entry against its run.
  private func checkFiles(of act: AuditEntry, _ check: inout CheckResult) {
    let lines = act.content.split(separator: "\n").map(String.init)
    let run = runs[act.run]
    if lines.first != "run \(act.run) as of \(run.flatMap(asOf(of:))?.text ?? "")"
      || !lines.contains("options \(run?["options"] ?? "")")
    {
      check.fail("act \(act.id) does not close what run \(act.run) of the chain published")
    }
    var named: [String] = []
    for line in lines {
      let words = line.split(separator: " ").map(String.init)
      guard words.count == 3, words[2].utf8.count == 64, let rows = Int64(words[1]) else {
        continue
      }
      check.count += 1
      let path = "closed/" + (act.month.flatMap { FrozenMonth.path(of: words[0], $0) } ?? words[0])
      named.append(path)
      let file = FileManager.default.contents(atPath: "\(folder)/\(path)") ?? Data()
      let frozen = Array([UInt8](file).drop { $0 != UInt8(ascii: "\n") }.dropFirst())
      if sha256(of: frozen) != words[2] {
        check.fail("\(path) does not hold the \(rows) rows that were closed")
      }
    }
    let others = files.filter { $0.hasPrefix("closed/") }.subtracting(named + ["closed/acts.json"])
    for path in others.sorted() { check.fail("\(path) was not closed") }
  }

  /// Checks all audit entries against the digests that the runs after them sealed.
  private func checkSeals(of acts: [AuditEntry], closing: AuditEntry, _ check: inout CheckResult) {
    let numbers = runs.keys.sorted()
    let kept = KeptAuditEntries(acts)
    for (place, run) in numbers.enumerated() {
      let words = (runs[run]?["act"] ?? "").split(separator: " ").map(String.init)
      guard words.count == 3, let rows = Int64(words[0]) else { continue }
      let before = place == 0 ? 0 : numbers[place - 1]
      if !kept.areThose(after: before, rows: rows, sha256: words[2]) {
        check.fail("the acts before run \(run) do not match what the run sealed")
      }
    }
    let seal = numbers.first { $0 > closing.run }
    check.notes.append(
      "act \(closing.id) closed the numbers of run \(closing.run); "
        + (seal.map { "run \($0) sealed it" } ?? "no run has sealed it yet: \(closing.sha256)"))
  }
}

/// The as-of among the facts of a run in the chain.
func asOf(of run: [String: String]) -> Instant? {
  run["as_of_ms"].flatMap { Int64($0) }.map(Instant.init(milliseconds:))
}
