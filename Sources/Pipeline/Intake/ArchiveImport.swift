import Domain
import EventStore
import Formats
import Logging
import Providers

/// Ingests the messages of readers into the ledger, in the order of the files.
struct ArchiveImport {
  private let files: [ArchiveFile]
  private let intake: ArchiveIntake
  let reader: ArchiveReader
  private let run: Intake
  private let total: Int64
  /// The names of retracted archives, by length and hash of their content.
  private let retracted: [[Int64]: String]
  private(set) var done: Int64 = 0
  var summary: IntakeSummary
  private var opening = ArchiveOpening(sha256: "")
  private var lines: Int64 = 0
  private var isWanted = false
  /// Whether it continues an archive of this run, unknown to its reader, and so is read again.
  private var isReadAgain = false

  init(
    of files: [ArchiveFile], by intake: ArchiveIntake, _ rules: NormaliserSettings,
    for run: Intake, summary: IntakeSummary
  ) throws {
    // An archive that is read again has its own retracted lines.
    retracted = try run.replayed == nil ? run.ledger.retractedContents() : [:]
    reader = ArchiveReader(
      rules: rules, valueBytesMax: run.plan.valueBytesMax, retracted: run.retracted,
      knownContents: try run.ledger.contents(), formers: try run.ledger.formers(),
      replayed: run.replayed)
    self.files = files
    self.intake = intake
    self.run = run
    self.summary = summary
    total = files.reduce(0) { $0 + $1.bytes }
  }

  /// Takes the next message about the file at `index`; if the file has to be read again, `again` is
  /// called first with each new message.
  mutating func take(
    _ message: ArchiveMessage, of index: Int,
    again: (ArchiveMessage) throws -> Void = { _ in }
  ) throws {
    try SubledgerError.check(run.stop)
    let file = files[index]
    switch message {
    case .opened(let opening):
      self.opening = opening
      lines = 0
      isReadAgain = try hasPreviousOfThisRun(file)
      isWanted = try !isReadAgain && open(file)
    case .batch(let batch):
      if isWanted { try intake.add(batch) }
      summary.lines += batch.lines
      lines += batch.lines
    case .again:
      discard()
      if isWanted { isWanted = try open(file) }
    case .ended(let end):
      if isReadAgain { return try readAgain(index, again) }
      try finish(file, end)
      (isWanted, lines) = (false, 0)
    case .skipped: done += file.bytes
    case .unreadable(let error):
      discard()
      isWanted = false
      try run.leaveOut(file, error, &summary)
      done += file.bytes
    case .failed(let error): throw error
    }
    run.pipeline.progress(
      RunProgress(stage: .archives, done: done, total: total, lines: summary.lines))
  }

  /// Discards what arrived of the archive so far.
  private mutating func discard() {
    intake.abandon()
    summary.lines -= lines
    lines = 0
  }

  private func hasPreviousOfThisRun(_ file: ArchiveFile) throws -> Bool {
    guard let beginning = opening.beginning, let formers = intake.formers[beginning],
      try !intake.isKnown(sha256: opening.sha256)
    else { return false }
    var reader = reader
    reader.formers = [beginning: formers]
    // The reader reports a file that cannot be read now.
    let previous = try? reader.previous(of: file, beginning)
    return previous?.contentBytes ?? 0 > opening.previous?.contentBytes ?? 0
  }

  /// Reads a file as its reader would have if it had known the archives before it.
  private mutating func readAgain(
    _ index: Int, _ note: (ArchiveMessage) throws -> Void
  ) throws {
    summary.lines -= lines
    var reader = reader
    reader.formers.merge(intake.formers) { $0 + $1 }
    try reader.read(files[index]) { message in
      try note(message)
      try take(message, of: index)
    }
  }

  /// Whether the events of `file` are wanted: not when its bytes are known under another name.
  private mutating func open(_ file: ArchiveFile) throws -> Bool {
    guard try !intake.isKnown(sha256: opening.sha256) else {
      try leaveOut(repeated: file)
      return false
    }
    var archive = NewArchive(file, sha256: opening.sha256, kind: .events)
    (archive.beginning, archive.previous) = (opening.beginning, opening.previous)
    try intake.begin(archive)
    return true
  }

  /// Lists a file with the content of a known archive, without reading it; a newly compressed file
  /// with rejected lines is a warning, because its author wants them read.
  ///
  /// A renamed or copied file keeps its modification time.
  private mutating func leaveOut(repeated file: ArchiveFile) throws {
    try listRepeat(file)
    let known = try run.ledger.archiveWithContent(sha256: opening.sha256, kind: .events)
    guard let known, known.counts.rejected > 0, known.modified != file.modified else {
      return run.log.info(
        "\(file.path) holds the same bytes as an archive already read",
        metadata: file.metadata("archive_repeated"))
    }
    run.log.warning(
      """
      \(file.path) holds the same bytes as \(known.name), of which \(known.counts.rejected) \
      lines were rejected, and is not read. To read them again, pack it again with an empty line \
      in front
      """, metadata: file.metadata("archive_repeated"))
  }

  /// Lists a file from which nothing is ingested.
  ///
  /// The archive with the same bytes may still be unwritten, and is listed first.
  private mutating func listRepeat(_ file: ArchiveFile) throws {
    summary.add(try intake.write())
    try run.ledger.recordRepeat(NewArchive(file, sha256: opening.sha256, kind: .events))
    summary.archivesKnown += 1
  }

  /// Lists a file with the content of a retracted archive, without ingesting it.
  private mutating func leaveOut(_ file: ArchiveFile, asCopyOf retracted: String) throws {
    try listRepeat(file)
    run.log.warning(
      """
      \(file.path) holds the lines of \(retracted), which is retracted: they do not count. \
      `subledger retract --readmit` lets those of \(retracted) count again
      """, metadata: file.metadata("copy_of_retracted"))
  }

  private mutating func finish(_ file: ArchiveFile, _ end: ArchiveEnd) throws {
    done += file.bytes
    guard isWanted else { return }
    if opening.sha256.isEmpty {
      opening.sha256 = end.sha256
      if try intake.isKnown(sha256: end.sha256) {
        discard()
        return try leaveOut(repeated: file)
      }
    }
    guard end.sha256 == opening.sha256 || run.replayed != nil else {
      intake.abandon()
      run.warn("file_changed", file, "changed while it was read; it is left for the next run")
      return
    }
    if let name = retracted[[end.inflatedBytes, end.contentHash]] {
      discard()
      return try leaveOut(file, asCopyOf: name)
    }
    if let damage = end.damage {
      summary.archivesDamaged += 1
      if opening.previous == nil { summary.newArchivesDamaged += 1 }
      run.warn(of: damage, in: file)
    }
    summary.add(try intake.finish(end, sha256: opening.sha256))
  }
}
