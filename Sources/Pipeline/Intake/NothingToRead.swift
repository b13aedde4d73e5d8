import EventStore
import Providers
import Domain

extension RunPipeline {
  /// Stops a run without input, or without any that could be read.
  func refuseNothing(_ summary: IntakeSummary, _ ledger: Ledger) throws {
    if summary.isBeyondSalvage {
      let reject = try ledger.mostFrequentReject()
      throw SubledgerError(
        .damagedInput,
        "nothing of the new input could be understood: \(summary.text)\(reject?.text ?? "")",
        hint: reject?.hint
          ?? "check that the paths hold delivered webhooks, gzip or plain, one JSON value a line")
    }
    let isEmpty = summary.archivesRead + summary.archivesKnown == 0 && summary.snapshots == 0
    guard isEmpty, try ledger.archives().isEmpty else { return }
    let left = summary.filesLeftAlone
    let young = left > 0 ? " but \(counted(left, "file")) younger than --min-age" : ""
    throw SubledgerError(
      .noInput, "there is nothing to read\(young) and the ledger \(plan.ledger) is empty",
      hint: left > 0
        ? "run again when they are old enough, or with a smaller --min-age"
        : "give --archives a file or folder of delivered webhooks")
  }
}

extension FrequentReject {
  /// Reason, count and first place, to follow on the account of all lines.
  var text: String {
    "; most were rejected as \(reason) (\(lines)), first line \(line), at byte \(byteOffset), of "
      + "\(archive.shown()): \(detail)"
  }

  /// What to do; nil where the reason needs no advice of its own.
  var hint: String? {
    guard reason == unauthenticated else { return nil }
    return "check `secrets` in the configuration; lines rejected by a wrong one are read again "
      + "once it is packed anew (docs/operations.md, Lines to read anew)"
  }
}
