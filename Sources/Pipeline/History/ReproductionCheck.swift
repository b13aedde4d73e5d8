import EventStore
import Reports

/// The set of a run, told again, held to what the run published.
struct ReproductionCheck {
  let run: RunRow
  /// How many files the set has now.
  let files: Int
  /// Those with other bytes, or that only one of both has.
  var differing: [String]
  /// What people did to the ledger since.
  let since: ErasuresSinceRun

  /// What is wrong, and what a reader should know: files that another version of the program makes
  /// otherwise are no more than that.
  func judged(by version: String) -> (wrong: [String], notes: [String]) {
    if run.version != version {
      guard !differing.isEmpty else { return ([], []) }
      let note =
        "run \(run.id) was published by version \(run.version); files with other bytes by "
        + "\(version): \(differing.joined(separator: ", "))"
      return ([], [note])
    }
    return (since.unexplained(differing), since.reason(for: differing).map { [$0] } ?? [])
  }
}

extension ReproductionCheck {
  /// Compares what `run` published with the checksums of what came of doing it again.
  init(
    _ run: RunRow, _ before: RunDocuments, again now: [UInt8], since: ErasuresSinceRun
  ) throws(SubledgerError) {
    let known = try before.checksums()
    self.init(
      run: run, files: now.count { $0 == UInt8(ascii: "\n") },
      differing: differingFiles(known, now), since: since)
  }
}

extension RunDocuments {
  /// The checksums of what the run published; empty when they are not kept.
  func checksums() throws(SubledgerError) -> [UInt8] { try published?.content() ?? [] }
}
