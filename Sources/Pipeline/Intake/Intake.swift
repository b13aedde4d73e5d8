import Formats
import Foundation
import EventStore
import Logging
import Providers
import Domain

/// Archives → ledger: files are inflated, scanned and normalised in parallel; one writer takes
/// their batches in the order of the files, each archive in a transaction of its own.
struct Intake {
  let plan: Plan
  let ledger: Ledger
  let log: Logger
  let progress: (RunProgress) -> Void
  let checkStop: () throws -> Void
  /// An archive that is read again as the ledger says that it was read, without what follows it.
  var replayed: ArchiveRecord?
  /// Values that were rejected for their secret then, with their texts, by offset.
  var refused: [Int64: String] = [:]

  /// The messages of a worker to the writer about one archive, in this order.
  private enum Message: Sendable {
    case opened(sha256: String)
    /// Its bytes were known before this run, and are not read.
    case skipped
    case batch(RunPipeline.Delivered)
    /// The batches so far do not hold; the archive is read anew.
    case again
    case ended(ArchiveEnd)
    /// The file was there when the folder was listed, and is gone.
    case vanished
    /// The file cannot be read, which is no reason to read no other.
    case unreadable(SubledgerError)
    case failed(any Error)

    /// What it holds, in events; a batch takes the room of a full one, however few it holds.
    var size: Int {
      guard case .batch(let batch) = self else { return 1 }
      return max(batch.events.count, Int(batch.lines), batchLines)
    }
  }

  /// Lines of which a batch is full.
  private static let batchLines = 1_024

  /// Events that may wait for the writer, who takes them in the order of the files: half a file of
  /// 50,000, in 18 MB.
  private static let waitingMax = 24 * 1_024

  /// Reads what is new under the plan's paths.
  func readArchives(into summary: inout IntakeSummary) throws {
    var rules = try plan.normaliseRules()
    rules.refused = refused
    if let warning = plan.secretsWarning { log.warning("\(warning)") }
    let (files, known, leftAlone) = try newFiles(
      of: .events, under: plan.archives, except: plan.ownPlaces + plan.snapshots)
    summary.archivesKnown += known
    summary.filesLeftAlone += leftAlone
    let intake = ledger.beginEvents(schedules: plan.configuration.retrySchedules)
    do {
      try readArchives(files, rules, by: intake, into: &summary)
    } catch {
      // Files that were read whole before the run had to stop are kept.
      intake.abandon()
      summary.add(try intake.write())
      throw error
    }
  }

  private func readArchives(
    _ files: [ArchiveFile], _ rules: NormaliserSettings, by intake: EventIntake,
    into summary: inout IntakeSummary
  ) throws {
    let total = files.reduce(0) { $0 + $1.bytes }
    var (done, lines): (Int64, Int64) = (0, 0)
    var isWanted = false
    var listedAs = ""
    let reader = ArchiveReader(
      rules: rules, valueBytesMax: plan.valueBytesMax,
      knownContents: try ledger.contents())
    let workers = Workers(count: plan.jobs, waitingMax: Self.waitingMax)
    try workers.run(files, reader.read, size: \.size) { index, message in
      try checkStop()
      let file = files[index]
      switch message {
      case .opened(let sha256):
        listedAs = sha256
        lines = 0
        isWanted = try open(file, sha256, intake, &summary)
      case .batch(let batch):
        if isWanted { try intake.add(batch) }
        summary.lines += batch.lines
        lines += batch.lines
      case .again:
        summary.lines -= lines
        lines = 0
        intake.abandon()
        if isWanted { isWanted = try open(file, listedAs, intake, &summary) }
      case .ended(let end):
        if isWanted, end.sha256 == listedAs {
          try close(intake, file, end, &summary)
        } else if isWanted {
          intake.abandon()
          log.warning("\(file.path) changed while it was read; it is left for the next run")
        }
        done += file.bytes
      case .skipped: done += file.bytes
      case .vanished:
        intake.abandon()
        log.warning("\(file.path) vanished before it was read; it is left out")
        done += file.bytes
      case .unreadable(let error):
        intake.abandon()
        try leaveOut(error, &summary)
        done += file.bytes
      case .failed(let error): throw error
      }
      progress(
        RunProgress(
          stage: "ingest", done: done, total: total, lines: summary.lines,
          isLast: done == total))
    }
    try Workers(count: plan.jobs, waitingMax: 8).make(try intake.pieces(), write: intake.write)
    summary.add(try intake.write())
  }

  /// The files with possibly new content, in byte order of their names, and how many are known or
  /// too young; `others` are not input.
  func newFiles(
    of kind: ArchiveKind, under paths: [String], except others: [String]
  ) throws -> (files: [ArchiveFile], known: Int, leftAlone: Int) {
    let listing = try ArchiveFolder.files(under: paths, except: others)
    for left in listing.leftOut {
      // A broken link was input once; the others are not input in any run.
      let level: Logger.Level = left.reason == .brokenLink ? .warning : .info
      log.log(level: level, "left out \(left.path): \(left.reason.rawValue)")
    }
    if let replayed { return (listing.files.map { $0.first(replayed.bytes) }, 0, 0) }
    var known = 0
    var leftAlone = 0
    let files = try listing.files.filter { file in
      let isKnown = try ledger.isUnchanged(
        path: file.path, bytes: file.bytes, modified: file.modified,
        inode: Int64(bitPattern: file.inode), kind: kind)
      if isKnown {
        known += 1
        return false
      }
      guard let limit = plan.modifiedUntil, file.modified > limit else { return true }
      log.info("left alone \(file.path): younger than --min-age")
      leftAlone += 1
      return false
    }
    return (files, known, leftAlone)
  }

  /// Whether the events of `file` are wanted: not when its bytes are known under another name.
  private func open(
    _ file: ArchiveFile, _ sha256: String, _ intake: EventIntake, _ summary: inout IntakeSummary
  ) throws -> Bool {
    let archive = NewArchive(file, sha256: sha256, kind: .events)
    guard try !intake.isKnown(sha256: sha256) else {
      // The archive with these bytes may wait to be written, and is listed first.
      summary.add(try intake.write())
      try ledger.recordRepeat(archive)
      summary.archivesKnown += 1
      try send(repeated: file, sha256)
      return false
    }
    try intake.begin(archive, knownUntil: try knownUntil(file))
    return true
  }

  /// Says that `file` is not read; who packed rejected lines anew wants them read.
  ///
  /// A file that was renamed, or copied as it was, keeps its time.
  private func send(repeated file: ArchiveFile, _ sha256: String) throws {
    let known = try ledger.archiveWithContent(sha256: sha256, kind: .events)
    guard let known, known.counts.rejected > 0, known.modified != file.modified else {
      return log.info("\(file.path) holds the same bytes as an archive already read")
    }
    log.warning(
      """
      \(file.path) holds the same bytes as \(known.name), of which \(known.counts.rejected) \
      lines were rejected, and is not read. To have them read anew, pack it with one more empty \
      line in front
      """)
  }

  /// The last value of `file` that it contained when it was shorter: torn, or not yet whole.
  private func knownUntil(_ file: ArchiveFile) throws -> Int64? {
    try ledger.archives(named: file.name).first { former in
      try former.bytes < file.bytes && sha256(of: file, first: former.bytes) == former.sha256
    }?.importedUntil
  }

  private func close(
    _ intake: EventIntake, _ file: ArchiveFile, _ end: ArchiveEnd, _ summary: inout IntakeSummary
  ) throws {
    if let damage = end.damage {
      summary.archivesDamaged += 1
      log.warning(
        """
        \(file.path) is damaged at byte \(damage.offset): \(damage.detail); the \(intake.lines) \
        whole lines before it count. Deliver the whole file under the same name to pick up the rest
        """
      )
    }
    summary.add(try intake.finish(damageOffset: end.damage?.offset))
  }

  /// The parallel part: one archive from bytes to batches.
  private struct ArchiveReader: Sendable {
    let rules: NormaliserSettings
    let valueBytesMax: Int
    let knownContents: Set<String>

    private struct NotWanted: Error {}

    func read(_ file: ArchiveFile, _ send: (Message) -> Bool) {
      do {
        let sha256 = try sha256(of: file)
        guard send(.opened(sha256: sha256)) else { return }
        if knownContents.contains(sha256) {
          _ = send(.skipped)
          return
        }
        _ = send(.ended(try readBatches(of: file, send)))
      } catch let error as SubledgerError where error.kind == .noInput {
        _ = send(.vanished)
      } catch let error as SubledgerError where error.isOfOneFile {
        _ = send(.unreadable(error))
      } catch let foreign as ForeignFile {
        _ = send(.unreadable(foreign.error))
      } catch is NotWanted {
        // The writer has stopped and throws its own error.
      } catch {
        _ = send(.failed(error))
      }
    }

    private func readBatches(
      of file: ArchiveFile, _ send: (Message) -> Bool
    ) throws -> ArchiveEnd {
      var normaliser = Normaliser(rules: rules)
      // The last lines of a chunk may come on top.
      let (room, bytesMin) = (1_280, 1 << 20)
      var batch = EventBatch(room: room)
      func flush() throws {
        guard send(.batch(batch)) else { throw NotWanted() }
        batch = EventBatch(room: room)
      }
      let end = try readArchive(file, valueBytesMax: valueBytesMax) { chunk in
        switch chunk {
        case .lines(let bytes, let firstLine, let firstOffset):
          normaliser.add(bytes, firstLine: firstLine, firstOffset: firstOffset, to: &batch)
        case .oversizedValue(let line, let byteOffset):
          normaliser.addOversized(line: line, byteOffset: byteOffset, to: &batch)
        case .again:
          (normaliser, batch) = (Normaliser(rules: rules), EventBatch())
          guard send(.again) else { throw NotWanted() }
        }
        if batch.lines >= batchLines || batch.arena.count >= bytesMin { try flush() }
      }
      if batch.lines > 0 { try flush() }
      return end
    }
  }
}

extension NewArchive {
  /// The ledger's entry for a file with these bytes.
  init(_ file: ArchiveFile, sha256: String, kind: ArchiveKind) {
    self.init(
      name: file.name, sha256: sha256, kind: kind, path: file.path, bytes: file.bytes,
      modified: file.modified, inode: Int64(bitPattern: file.inode))
  }
}
