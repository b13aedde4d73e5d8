import Formats
import EventStore
import Logging
import Providers
import Domain

extension Intake {
  /// Reads the new snapshot files, one after the other.
  func readSnapshots(into summary: inout IntakeSummary) throws {
    guard !plan.snapshots.isEmpty else { return }
    let files = try newFiles(of: .snapshots, countedIn: &summary)
    let total = files.reduce(0) { $0 + $1.bytes }
    var done: Int64 = 0
    for file in files {
      try SubledgerError.check(stop)
      pipeline.progress(RunProgress(stage: .snapshots, done: done, total: total))
      done += file.bytes
      do {
        try readSnapshot(file, into: &summary)
      } catch is NoCaptureTime {
        summary.snapshotFilesRefused += 1
        log.warning(
          """
          \(file.path) is left out: a line has no time of capture. Add \
          captured_at to the lines or a date to the file's name, or give --captured-at; the next \
          run tries again
          """, metadata: file.metadata("capture_time_missing"))
      } catch let foreign as ForeignFile {
        try leaveOut(file, foreign.error, &summary)
      } catch let error as SubledgerError where error.kind == .noInput {
        try leaveOut(file, error, &summary)
      }
    }
  }

  /// Maximum size of parsed snapshots that wait for the writer, in bytes.
  private static let snapshotBytesWaitingMax = 16 << 20

  private func readSnapshot(_ file: ArchiveFile, into summary: inout IntakeSummary) throws {
    guard let sha256 = try digest(of: file, &summary) else { return }
    var archive = NewArchive(file, sha256: sha256, kind: .snapshots)
    let capturedAt =
      replayed?.capturedAt ?? captureTime(fileName: file.name, in: plan.rules.calendar)
      ?? plan.capturedAt
    archive.capturedAt = capturedAt
    if let known = try ledger.archiveWithContent(
      sha256: sha256, kind: .snapshots, capturedAt: capturedAt)
    {
      archive.capturedAt = known.capturedAt
      summary.snapshotFilesKnown += 1
      return try ledger.recordRepeat(archive)
    }
    // Unless it is finished, its deinitialiser undoes what it wrote.
    var entry = try SnapshotIntake(archive, into: ledger)
    var firstReject: Reject?
    var isDated = true
    var newest: Instant?
    var ended: ArchiveEnd?
    let workers = Workers(count: 1, waitingMax: Self.snapshotBytesWaitingMax)
    try workers.run([file], messages(capturedAt: capturedAt), size: \.bytes) { _, message in
      switch message {
      case .lines(let snapshots, let rejects, let apart):
        try SubledgerError.check(stop)
        firstReject = firstReject ?? rejects.first
        for snapshot in snapshots {
          isDated = isDated && snapshot.capturedAt != capturedAt
          newest = max(newest ?? snapshot.capturedAt, snapshot.capturedAt)
        }
        try entry.add(snapshots, rejects: rejects, retracted: apart)
      case .again:
        entry.abandon()
        entry = try SnapshotIntake(archive, into: ledger)
        (firstReject, isDated, newest) = (nil, true, nil)
      case .ended(let end): ended = end
      }
    }
    guard let end = ended, end.sha256 == sha256 else {
      return warn("file_changed", file, "changed while it was read; it is left for the next run")
    }
    let counts = try entry.finish(end.damage, isDated: isDated)
    summary.snapshots += counts.accepted + counts.duplicates
    summary.snapshotsRejected += counts.rejected
    if let firstReject { warn(firstReject, of: counts, in: file) }
    if let damage = end.damage {
      warn(of: damage, in: file, effect: ", and users missing from it raise no breaks")
    }
    if let newest, newest > plan.rules.asOf { warn(newest, in: file) }
  }

  /// Reads a file in one thread and parses its chunks in several, while this thread writes.
  private func messages(
    capturedAt: Instant?
  ) -> @Sendable (ArchiveFile, (SnapshotMessage) throws -> Void) throws -> Void {
    let (bytesMax, retracted) = (plan.valueBytesMax, retracted)
    // More parsers would only wait for bytes.
    let parsers = min(plan.jobs, 4)
    let parser: @Sendable () -> (ChunkCopy, (SnapshotMessage) throws -> Void) throws -> Void = {
      let reader = SnapshotReader()
      return { copy, send in
        var (batch, apart) = (SnapshotBatch(), Int64(0))
        copy.withChunk {
          apart = reader.read($0, apart: retracted, capturedAtDefault: capturedAt, to: &batch)
        }
        guard !batch.needsCapturedAt else { throw NoCaptureTime() }
        let snapshots = batch.snapshots.map(EncodedSnapshot.init)
        try send(.lines(snapshots, rejects: batch.rejects, apart: apart))
      }
    }
    let read: @Sendable (ArchiveFile, (ReadChunks) throws -> Void) throws -> Void = { file, send in
      var (chunks, bytes) = ([ChunkCopy](), 0)
      let end = try readArchive(file, valueBytesMax: bytesMax) { chunk in
        guard let copy = ChunkCopy(of: chunk) else {
          (chunks, bytes) = ([], 0)
          return try send(.again)
        }
        chunks.append(copy)
        bytes += copy.bytes.count
        guard bytes > parsers << 21 else { return }
        try send(.chunks(chunks))
        (chunks, bytes) = ([], 0)
      }
      try send(.chunks(chunks))
      try send(.ended(end))
    }
    return { file, send in
      try Workers(count: 1, waitingMax: 1).run([file], read) { _, part in
        switch part {
        case .chunks(let chunks):
          try Workers(count: parsers).run(chunks, eachBy: parser) { try send($1) }
        case .again: try send(.again)
        case .ended(let end): try send(.ended(end))
        }
      }
    }
  }

  /// Returns the file's SHA-256; nil when it cannot be read.
  private func digest(of file: ArchiveFile, _ summary: inout IntakeSummary) throws -> String? {
    do throws(SubledgerError) {
      return try sha256(of: file)
    } catch {
      guard error.isOfOneFile else { throw error }
      try leaveOut(file, error, &summary)
      return nil
    }
  }

  private func warn(_ newest: Instant, in file: ArchiveFile) {
    log.warning(
      """
      \(file.path) holds snapshots captured at \(newest.text), which is after as-of \
      \(plan.rules.asOf.text): they do not count before that. A date in a name or an option is the \
      start of that day in \(plan.rules.calendar.identifier)
      """, metadata: file.metadata("snapshots_later"))
  }

  private func warn(_ first: Reject, of counts: ArchiveCounts, in file: ArchiveFile) {
    log.warning(
      """
      \(counts.rejected) of \(counts.lines) lines of \(file.path) cannot be understood; the \
      first is line \(first.place.line), at byte \(first.place.byteOffset): \(first.detail)
      """, metadata: file.metadata("snapshots_rejected"))
  }
}

/// The messages of the reader of a snapshot file to the parsers.
private enum ReadChunks: Sendable {
  case chunks([ChunkCopy])
  /// Everything sent so far is invalid: the file is read again.
  case again
  case ended(ArchiveEnd)
}

/// The messages of the parsers to the writer.
private enum SnapshotMessage: Sendable {
  /// Snapshots of some lines, rejected lines, and the number of retracted lines.
  case lines([EncodedSnapshot], rejects: [Reject], apart: Int64)
  /// Everything sent so far is invalid: the file is read again.
  case again
  case ended(ArchiveEnd)

  /// Memory in use, in bytes, approximately.
  var bytes: Int {
    guard case .lines(let snapshots, _, _) = self else { return 1 }
    return snapshots.reduce(1) { $0 + $1.bytes }
  }
}

/// A snapshot line without a capture time in a file without one.
private struct NoCaptureTime: Error {}
