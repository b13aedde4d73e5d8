public import Domain

/// Takes archives of events into the ledger, each whole or not at all.
///
/// Archives gather in memory and, when it is full, in a temporary file, and are written together:
/// an event is cheapest to write among its lineage's others. Order of arrival decides nothing but
/// the numbers of versions and symbols: which version of an event counts, its times and its user,
/// and a lineage's user, follow from the set of lines alone.
public final class EventIntake: ArchiveIntake {
  /// Memory for events before they are spilled or written.
  private let batchSize: Int
  /// Bytes of spilled events before all are written at the end of an archive; twice as much within
  /// one, because a part of an archive needs a write of its own.
  private let spillSize: Int
  private var waiting = WriteBuffer()
  private var finishedSize = 0
  /// Counts of archives that are written and not returned yet.
  private var written: [ArchiveCounts] = []
  /// Whether a part of an archive is written that can still be undone.
  private var isWriting = false
  /// Writes the finished archives while their rows are made elsewhere.
  private var writer: EventWriter?

  init(
    ledger: Ledger, schedules: [Provider: RetrySchedule], batchSize: Int, spillSize: Int
  ) {
    (self.batchSize, self.spillSize) = (batchSize, spillSize)
    super.init(ledger, schedules: schedules)
  }

  deinit { abandon() }

  /// Begins an archive with new content, and returns its number in the ledger.
  @discardableResult
  public override func begin(_ archive: NewArchive) throws(SubledgerError) -> Int32 {
    let id = try super.begin(archive)
    waiting.beginArchive()
    current?.start = waiting.count
    return id
  }

  override func take(_ batch: EventBatch, of draft: EventFileImport) throws(SubledgerError) {
    try ledger.access("add events") { try gather(batch, of: draft, in: $0) }
    try freeMemory(besides: draft)
  }

  override func writeIfFull(with draft: EventFileImport) throws(SubledgerError) -> [ArchiveCounts] {
    finishedSize += draft.size
    // A tenth of the memory is left to the next archive, so that it is rarely written in parts.
    let accounts = finishedSize / 9 * 10
    return isWriting || isFull(accounts, spilled: spillSize) ? try write() : []
  }

  /// Begins to write the finished archives into a new ledger: rows that any thread can make.
  ///
  /// All of them go to `write(_:)` in their order, and then `write` makes the archives part of the
  /// ledger. None where it does everything, because rows are merged with stored ones.
  public func pieces() throws(SubledgerError) -> [RowPiece<NewLineages>] {
    precondition(current == nil && writer == nil, "only whole archives are written, and once")
    guard !finished.isEmpty else { return [] }
    var pieces: [RowPiece<NewLineages>] = []
    try change("add events") { database in
      var writer = try writer(of: waiting.all(in: database), in: database)
      pieces = try writer.pieces()
      self.writer = writer
    }
    return pieces
  }

  /// Writes the rows of a piece.
  public func write(_ rows: NewLineages) throws(SubledgerError) {
    try change("add events") { _ in try writer?.write(rows) }
  }

  /// Makes all finished archives part of the ledger; gives back tallies like `finish`.
  ///
  /// What a power cut can undo of it is whole archives (`Ledger.checkpoint`).
  public override func write() throws(SubledgerError) -> [ArchiveCounts] {
    precondition(current == nil, "only whole archives are written for good")
    if !finished.isEmpty {
      try writeFinished { try waiting.all(in: $0) }
      try ledger.access("add events") { try waiting.clear(in: $0) }
    }
    defer { written = [] }
    return written
  }

  /// Undoes the archive that is being read, or those of which pieces were handed out; others are
  /// not touched.
  public override func abandon() {
    if writer != nil { return undo() }
    guard current != nil else { return }
    if isWriting {
      current = nil
      return undo()
    }
    waiting.dropArchive()
    super.abandon()
  }

  private func gather(
    _ batch: EventBatch, of draft: EventFileImport, in database: Connection
  ) throws {
    let (events, entitlements) = ledger.translated(batch, of: draft.id)
    try batch.arena.withUnsafeBytes { arena in
      try waiting.add(
        events, batch.texts.map { WriteBatch.Texts($0, in: arena) }, entitlements, in: database)
    }
    draft.add(batch, events)
  }

  /// Spills events or writes them, so that memory stays bounded however long an archive is.
  private func freeMemory(besides draft: EventFileImport) throws(SubledgerError) {
    let accounts = finishedSize + draft.size
    if isFull(accounts, spilled: spillSize * 2) {
      try writePart(of: draft)
    } else if waiting.size + accounts > batchSize {
      try ledger.change("spill events") { try waiting.spill(in: $0) }
    }
  }

  /// Whether all is to be written when the accounts of archives take `accounts` bytes, and `aside`
  /// bytes may lie aside.
  private func isFull(_ accounts: Int, spilled: Int) -> Bool {
    accounts + waiting.count > batchSize / 2 || waiting.spillSize > spilled
  }

  /// Writes all gathered events: archives before `draft` for good, the draft's part so that it can
  /// be undone.
  private func writePart(of draft: EventFileImport) throws(SubledgerError) {
    let parts = try ledger.change("spill events") { try waiting.parts(in: $0) }
    if !finished.isEmpty { try writeFinished { _ in parts.before } }
    try change("add events") { try write([draft], by: writer(of: parts.last, in: $0), in: $0) }
    waiting = WriteBuffer()
    draft.start = 0
  }

  private func writeFinished(
    _ batch: (Connection) throws -> WriteBuffer.Batch
  ) throws(SubledgerError) {
    let drafts = finished
    finished = []
    finishedContents = []
    finishedSize = 0
    try change("add events") { database in
      try write(drafts, by: writer ?? writer(of: batch(database), in: database), in: database)
      writer = nil
      for draft in drafts { try draft.close(in: database) }
      try ledger.lock?.requireThere()
      try database.release("batch")
    }
    isWriting = false
    written += drafts.map(\.counts)
  }

  private func writer(
    of batch: WriteBuffer.Batch, in database: Connection
  ) throws -> EventWriter {
    // The archive that is being read may yet be given up, and its words with it.
    let isOfOthers = current.map { batch.numbers.upperBound <= $0.start } ?? false
    try ledger.saveSymbols(upTo: isOfOthers ? symbolsBefore.words.count : nil, in: database)
    return try EventWriter(batch, words: ledger.symbols.words, database: database)
  }

  private func write(
    _ drafts: [EventFileImport], by writer: EventWriter, in database: Connection
  ) throws {
    var writer = writer
    let results = try writer.write()
    for draft in drafts { draft.resolve(results[(draft.start - writer.start)...]) }
    try EventFileImport.write(drafts, to: database)
  }

  /// Runs `body` in the transaction of the batch, which lasts until the savepoint is released; an
  /// error undoes everything since it began.
  private func change(
    _ doing: String, _ body: (Connection) throws -> Void
  ) throws(SubledgerError) {
    do {
      try ledger.access(doing) { database in
        if !isWriting { try ledger.lock?.requireThere() }
        if !isWriting { try database.savepoint("batch") }
        isWriting = true
        try body(database)
      }
    } catch {
      undo()
      throw error
    }
  }

  /// Undoes writes that are not final, and discards buffered events.
  private func undo() {
    isWriting = false
    writer = nil
    waiting = WriteBuffer()
    finished = []
    finishedContents = []
    finishedSize = 0
    ledger.undoArchive(since: "batch")
  }
}

extension Ledger {
  /// Begins an import of event archives; days of their deliveries are in UTC.
  ///
  /// The attempts follow from `schedules`, else from the schedule that the provider publishes.
  /// `batchSize` is the memory, in bytes, that events may hold before they are laid aside, and
  /// `spillSize` what may lie aside on the disk before all are written; in the middle of an archive
  /// twice as much may.
  public func beginEvents(
    schedules: [Provider: RetrySchedule] = [:], batchSize: Int = 104 << 20,
    spillSize: Int = 2 << 30
  ) -> EventIntake {
    EventIntake(ledger: self, schedules: schedules, batchSize: batchSize, spillSize: spillSize)
  }
}
