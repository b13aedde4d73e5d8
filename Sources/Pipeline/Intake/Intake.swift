import Formats
import EventStore
import Logging
import Providers

/// Ingests archives into the ledger: files are decompressed, scanned and normalised in parallel;
/// one writer takes their batches in the order of the files, each archive in its own transaction.
struct Intake {
  let pipeline: RunPipeline
  let ledger: Ledger
  /// An archive that is read again as the ledger recorded it, without what was appended since.
  var replayed: ArchiveRecord?
  /// Values that were rejected for their secret at that time, with their texts, by offset.
  var refused: [Int64: String] = [:]
  /// Retracted lines, which do not count.
  var retracted: Set<Int64> = []

  var plan: Plan { pipeline.plan }
  var log: Logger { pipeline.log }
  var stop: @Sendable () -> Int32 { pipeline.stop }

  /// Maximum number of events that wait for the writer, which takes them in the order of the files:
  /// a file of 50,000, in 39 MB, so that the next one is read at the same time.
  private static let waitingMax = 54 * 1_024

  /// Reads new archives under the plan's paths.
  func readArchives(into summary: inout IntakeSummary) throws {
    var rules = try plan.normaliseRules()
    rules.refused = refused
    if let warning = plan.secretsWarning {
      log.warning("\(warning)", metadata: ["code": "secrets_readable"])
    }
    let files = try newFiles(of: .events, countedIn: &summary)
    if let spark = pipeline.spark {
      return try readArchives(files, rules, by: spark, into: &summary)
    }
    let intake = EventIntake(into: ledger, schedules: plan.retrySchedules)
    do {
      var archives = try ArchiveImport(of: files, by: intake, rules, for: self, summary: summary)
      defer { summary = archives.summary }
      let workers = Workers(count: plan.jobs, waitingMax: Self.waitingMax)
      try workers.run(files, archives.reader.read, size: \.size) { try archives.take($1, of: $0) }
      try Workers(count: plan.jobs, waitingMax: 8).make(try intake.pieces(), write: intake.write)
      archives.summary.add(try intake.write())
    } catch {
      // Completely read files are kept, except when a signal would have to wait for their writing.
      intake.abandon()
      if stop() == 0 { summary.add(try intake.write()) }
      throw error
    }
  }

  /// Returns the files with possibly new content, in byte order of their names; `summary` counts
  /// those that are known or too young.
  func newFiles(
    of kind: ArchiveKind, countedIn summary: inout IntakeSummary
  ) throws -> [ArchiveFile] {
    let listing = try plan.files(of: kind, stop: stop)
    for left in listing.leftOut {
      // A broken link was once an input; the other files are never inputs.
      let level: Logger.Level = left.reason == .brokenLink ? .warning : .info
      log.log(
        level: level, "left out \(left.path): \(left.reason.rawValue)",
        metadata: ["code": "left_out", "archive": "\(left.path)"])
    }
    if let replayed {
      return listing.files.map { $0.first(replayed.bytes, as: replayed.name) }
    }
    return try listing.files.filter { file in
      guard kind == .events || !FetchJournal.isList(file.name) else { return false }
      let isKnown = try ledger.isUnchanged(
        path: file.path, bytes: file.bytes, modified: file.modified,
        inode: Int64(bitPattern: file.inode), kind: kind)
      if isKnown {
        if kind == .events { summary.archivesKnown += 1 } else { summary.snapshotFilesKnown += 1 }
        return false
      }
      guard plan.isTooYoung(file.written), kind == .events || !FetchJournal.isFetched(file.name)
      else { return true }
      log.info(
        "left alone \(file.path): younger than --min-age", metadata: file.metadata("too_young"))
      summary.filesLeftAlone += 1
      return false
    }
  }
}
