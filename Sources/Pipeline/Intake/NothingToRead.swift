import EventStore
import Formats
import Logging
import Providers
import Domain

extension RunPipeline {
  /// Stops a run without input, or without any that could be understood.
  func requireInput(_ summary: IntakeSummary, _ ledger: Ledger) throws {
    if summary.isUnreadable {
      let reject = try ledger.mostFrequentReject()
      throw SubledgerError(
        .damagedInput,
        "nothing of the new input could be understood: \(summary.text)\(reject?.text ?? "")",
        hint: reject?.hint
          ?? "check that --archives has delivered webhooks, one JSON value a line, not snapshots")
    }
    // A ledger that has read nothing, or only what it could not understand, is as empty as a new
    // one.
    guard summary.snapshots == 0, try ledger.lastEventAt() == nil,
      try ledger.archives().allSatisfy({ $0.counts.rejected == $0.counts.lines })
    else { return }
    throw summary.unreadable.first ?? nothingToRead(leftAlone: summary.filesLeftAlone)
  }

  /// Stops a first run without input before it creates a ledger.
  func requireInput() throws {
    guard !mayExist(plan.ledger) else { return }
    var left = 0
    for kind in [ArchiveKind.events, .snapshots] {
      let files = try plan.files(of: kind).files
      let young = files.count { plan.isTooYoung($0.written) }
      guard files.allSatisfy({ $0.bytes == 0 || plan.isTooYoung($0.written) }) else { return }
      left += young
    }
    throw nothingToRead(leftAlone: left)
  }

  private func nothingToRead(leftAlone left: Int) -> SubledgerError {
    let young = left > 0 ? " but \(counted(left, "file")) younger than --min-age" : ""
    return SubledgerError(
      .noInput, "there is nothing to read\(young) and the ledger \(plan.ledger) is empty",
      hint: left > 0
        ? "run again when they are old enough, or with a smaller --min-age"
        : "give --archives a file or folder of delivered webhooks")
  }
}

extension Intake {
  /// Continues without a file that is missing or cannot be read; only a replay needs every file.
  func leaveOut(
    _ file: ArchiveFile, _ error: SubledgerError, _ summary: inout IntakeSummary
  ) throws {
    guard error.kind != .noInput else {
      return warn("file_vanished", file, "disappeared before it was read; it is left out")
    }
    guard replayed == nil else { throw error }
    summary.unreadable.append(error)
    log.error(
      "\(error.message); it is left out, and the next run tries again; \(error.hint)",
      metadata: file.metadata("file_unreadable"))
  }
}

extension SubledgerError {
  /// Whether one file cannot be read, or is missing, while others may be readable.
  var isOfOneFile: Bool { [.noInput, .permission, .inputOutput].contains(kind) }
}

extension FrequentReject {
  /// Reason, count and first location, appended to the counts of all lines.
  var text: String {
    "; most were rejected as \(first.reason) (\(lines)), first line \(first.place.line), at byte "
      + "\(first.place.byteOffset), of \(archive.shown()): \(first.detail)"
  }

  /// What to do; nil when the reason needs no advice.
  var hint: String? {
    guard first.reason == unauthenticated else { return nil }
    return "check `secrets` in the configuration; lines rejected by a wrong one are read again "
      + "once it is packed again (docs/operations.md, Read lines again)"
  }
}
