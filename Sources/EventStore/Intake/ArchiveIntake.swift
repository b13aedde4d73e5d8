public import Domain
public import Formats

/// Ingests archives of events, each in one transaction, and counts their lines.
public class ArchiveIntake {
  let ledger: Ledger
  private let schedules: [Provider: RetrySchedule]
  /// The archive that is being read.
  var current: EventFileImport?
  /// Complete archives that are still to be written.
  var finished: [EventFileImport] = []
  /// SHA-256 of each finished archive; a set, because a run can have a hundred thousand.
  var finishedContents: Set<String> = []
  /// The archives that were read in this import, by the hash of their first lines.
  public private(set) var formers: [Int64: [PreviousArchive]] = [:]
  private(set) var symbolsBefore = StringTable()

  init(_ ledger: Ledger, schedules: [Provider: RetrySchedule]) {
    (self.ledger, self.schedules) = (ledger, schedules)
  }

  /// Whether the bytes of an archive are in the ledger, or are still to be written.
  public func isKnown(sha256: String) throws(SubledgerError) -> Bool {
    // If an archive can be read only once, its SHA-256 is known at the end.
    if sha256.isEmpty { return false }
    if finishedContents.contains(sha256) { return true }
    return try ledger.archiveWithContent(sha256: sha256, kind: .events) != nil
  }

  /// Begins an archive with new content, and returns its number in the ledger.
  ///
  /// Values that were part of the archive which it continues are not counted again.
  @discardableResult
  public func begin(_ archive: NewArchive) throws(SubledgerError) -> Int32 {
    precondition(current == nil, "one archive is taken in at a time")
    let id = try ledger.access("number an archive") { try ledger.nextArchive(in: $0) }
    symbolsBefore = ledger.symbols
    current = EventFileImport(archive, id: id, run: try ledger.nextRun(), schedules: schedules)
    return id
  }

  /// Adds the events of a batch; when it throws, the whole archive is undone.
  ///
  /// Events are written together, so a later call can throw the error of an earlier event.
  public func add(_ batch: EventBatch) throws(SubledgerError) {
    precondition(
      batch.events.count == batch.texts.count && batch.events.count == batch.values.count,
      "every event of a batch has its texts and its value")
    guard let draft = current else {
      preconditionFailure("nothing is added to an archive that is finished or abandoned")
    }
    do {
      try take(batch, of: draft)
    } catch {
      abandon()
      throw error
    }
  }

  /// Adds a batch to the counts of its archive.
  func take(_ batch: EventBatch, of draft: EventFileImport) throws(SubledgerError) {
    draft.add(batch, ledger.translated(batch, of: draft.id))
  }

  /// Completes the counts of the archive, which is written now or with a later one.
  ///
  /// `end` is what its reader reported; nil for an undamaged one. `sha256` is that of its bytes, if
  /// it was not known at the beginning. Returns the counts of all archives written since the last
  /// call.
  public func finish(
    _ end: ArchiveEnd? = nil, sha256: String? = nil
  ) throws(SubledgerError) -> [ArchiveCounts] {
    guard let draft = current else { preconditionFailure("an archive is finished once") }
    draft.archive.sha256 = sha256 ?? draft.archive.sha256
    draft.end = end
    if let beginning = draft.archive.beginning, end?.damage?.provisionalFrom == nil {
      formers[beginning, default: []].append(draft.previous)
    }
    finished.append(draft)
    finishedContents.insert(draft.archive.sha256)
    current = nil
    return try writeIfFull(with: draft)
  }

  /// Writes the finished archives when `draft`, the last of them, leaves too little memory.
  func writeIfFull(with draft: EventFileImport) throws(SubledgerError) -> [ArchiveCounts] { [] }

  /// Writes the finished archives, unless they wait for more; returns the counts of those written.
  public func write() throws(SubledgerError) -> [ArchiveCounts] { [] }

  /// Undoes the archive that is being read; the next one gets its number.
  public func abandon() {
    guard let draft = current else { return }
    current = nil
    ledger.symbols = symbolsBefore
    ledger.lastArchive = draft.id - 1
  }
}
