import EventStore
import Reports

struct ReproductionCheck {
  let run: RunRow
  let files: Int
  /// Files with other bytes, and files that only one of the two sets has.
  var differing: [String]
  /// Audit entries since the run published that change events or persons.
  let since: [AuditEntry.AuditAction]

  /// Returns the differences and notes; another version of the program may write other bytes, files
  /// with persons differ after an erasure, and all files may differ when lines were retracted.
  func outcome(by version: String) -> (wrong: [String], notes: [String]) {
    if differing.isEmpty { return ([], []) }
    let all = differing.joined(separator: ", ")
    if since.contains(.retract) || since.contains(.readmit) {
      return ([], ["lines were retracted since run \(run.id), so these files differ: \(all)"])
    }
    if run.version != version {
      let publisher = "run \(run.id) was published by version \(run.version)"
      return ([], ["\(publisher); files with other bytes by \(version): \(all)"])
    }
    let erased = since.count { $0 == .erase }
    let explained = differing.filter { erased > 0 && (namesPersons($0) || $0 == manifestName) }
    if explained.isEmpty { return (differing, []) }
    let persons = erased == 1 ? "a person was" : "\(erased) persons were"
    let files = explained.joined(separator: ", ")
    let note = "\(persons) erased since, so names differ in: \(files)"
    return (differing.filter { !explained.contains($0) }, [note])
  }
}

extension ReproductionCheck {
  /// Compares the checksums that a run published with those of the reproduced set.
  init(
    _ history: RunHistory, reproduced checksums: [UInt8], since: [AuditEntry.AuditAction]
  ) throws {
    // A pruned ledger no longer stores them all.
    let published = try history.documents.published?.content() ?? []
    self.init(
      run: history.row, files: checksums.count { $0 == UInt8(ascii: "\n") },
      differing: differingFiles(published, checksums), since: since)
  }
}

extension Ledger {
  func actions(since run: Int64) throws -> [AuditEntry.AuditAction] {
    try acts().filter { $0.run >= run }.map(\.action)
  }
}
