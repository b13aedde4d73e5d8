public import Domain

/// Takes in archives of events, each whole or not at all, and keeps account of their lines.
public class ArchiveIntake {
  let ledger: Ledger
  private let schedules: [Provider: RetrySchedule]
  /// The archive that is being read.
  var current: EventFileImport?
  /// Whole archives that wait to be written.
  var finished: [EventFileImport] = []
  /// SHA-256 of each of them: a run can have a hundred thousand.
  var finishedContents: Set<String> = []
  /// The archives that were read in this import, by the hash of their first lines.
  public private(set) var formers: [Int64: [FormerArchive]] = [:]
  private(set) var symbolsBefore = StringTable()

  init(_ ledger: Ledger, schedules: [Provider: RetrySchedule]) {
    (self.ledger, self.schedules) = (ledger, schedules)
  }

  /// Whether the bytes of an archive are in the ledger, or wait to be written.
  public func isKnown(sha256: String) throws(SubledgerError) -> Bool {
    // Of an archive that is read once, it is known at the end.
    if sha256.isEmpty { return false }
    if finishedContents.contains(sha256) { return true }
    return try ledger.archiveWithContent(sha256: sha256, kind: .events) != nil
  }

  /// JSON values of the archive that is being read, so far.
  public var lines: Int64 { current?.counts.lines ?? 0 }

  /// Begins an archive with new content, and returns its number in the ledger.
  ///
  /// Values that the archive which it continues delivered do not count again.
  @discardableResult
  public func begin(_ archive: NewArchive) throws(SubledgerError) -> Int32 {
    precondition(current == nil, "one archive is taken in at a time")
    let isKnown = try isKnown(sha256: archive.sha256)
    precondition(!isKnown, "the content of an archive is read once")
    let id = try ledger.access("number an archive") { try ledger.nextArchive(in: $0) }
    let run = try ledger.nextRun()
    symbolsBefore = ledger.symbols
    current = EventFileImport(
      archive, id: id, run: run, arrivals: ArrivalAccount(run: run, schedules: schedules))
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

  /// Enters a batch into the account of its archive.
  func take(_ batch: EventBatch, of draft: EventFileImport) throws(SubledgerError) {
    draft.add(batch, ledger.translated(batch, of: draft.id).events)
  }

  /// Closes the account of the archive, which is written now or with one of the next.
  ///
  /// `sha256` is that of its bytes, where it was not known when it began. `damageOffset` is the
  /// first byte that could not be read, `provisionalFrom` the offset in the inflated archive of the
  /// first line that may be wrong, `contentBytes` and `contentHash` are of what was read, inflated.
  /// Returns the counts of all archives written since the last call.
  public func finish(
    sha256: String? = nil, damageOffset: Int64? = nil, provisionalFrom: Int64? = nil,
    contentBytes: Int64 = 0, contentHash: Int64 = 0
  ) throws(SubledgerError) -> [ArchiveCounts] {
    guard let draft = current else { preconditionFailure("an archive is finished once") }
    draft.archive.sha256 = sha256 ?? draft.archive.sha256
    (draft.damageOffset, draft.provisionalFrom) = (damageOffset, provisionalFrom)
    (draft.contentBytes, draft.contentHash) = (contentBytes, contentHash)
    if let beginning = draft.archive.beginning, provisionalFrom == nil {
      formers[beginning, default: []].append(draft.former)
    }
    finished.append(draft)
    finishedContents.insert(draft.archive.sha256)
    current = nil
    return try writeIfFull(with: draft)
  }

  /// Writes what is finished when `draft`, the last of it, leaves too little memory.
  func writeIfFull(with draft: EventFileImport) throws(SubledgerError) -> [ArchiveCounts] { [] }

  /// Writes what is finished, unless it waits for more; returns the counts of what is written.
  public func write() throws(SubledgerError) -> [ArchiveCounts] { [] }

  /// Undoes the archive that is being read.
  public func abandon() {
    guard current != nil else { return }
    current = nil
    ledger.symbols = symbolsBefore
  }
}
