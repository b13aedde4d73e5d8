public import Domain

/// Ingests archives of events into the ledger, each in one transaction.
///
/// Archives are gathered in memory and, when it is full, in a temporary file, and are written
/// together: writing an event is cheapest together with others of its lineage. The order of arrival
/// determines only the numbers of versions and symbols: which version of an event counts, its times
/// and its user, and a lineage's user, follow from the set of lines alone.
public final class EventIntake: ArchiveIntake {
  private let batchSize: Int
  private let spillSize: Int
  private var waiting = WriteBuffer()
  private var finishedSize = 0
  /// Counts of archives that are written but not yet returned.
  private var written: [ArchiveCounts] = []
  /// Whether a part of an archive is written that can still be undone.
  private var isWriting = false
  /// Writes the finished archives while other threads create their rows.
  private var writer: EventWriter?

  /// Begins an import of event archives; days of their deliveries are in UTC.
  ///
  /// Attempts follow `schedules`, or else the schedule that the provider publishes. `batchSize` is
  /// the memory, in bytes, for events before they are spilled or written. `spillSize` is the size
  /// of the spill file, in bytes, that causes a write at the end of an archive; twice as much in
  /// the middle of one, because a part of an archive needs a write of its own.
  public init(
    into ledger: Ledger, schedules: [Provider: RetrySchedule] = [:], batchSize: Int = 104 << 20,
    spillSize: Int = 2 << 30
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
    // One transaction for the lookups of all users.
    try ledger.change("add events") { database in
      let events = ledger.translated(batch, of: draft.id)
      try waiting.add(events, of: batch, in: database)
      draft.add(batch, events)
    }
    // Memory stays bounded however long an archive is.
    let countsSize = finishedSize + draft.size
    if isFull(countsSize, spilled: spillSize * 2) {
      try writePart(of: draft)
    } else if waiting.size + countsSize > batchSize {
      try ledger.change("spill events") { try waiting.spill(in: $0) }
    }
  }

  override func writeIfFull(with draft: EventFileImport) throws(SubledgerError) -> [ArchiveCounts] {
    finishedSize += draft.size
    // A tenth of the memory is left for the next archive, so that it is rarely written in parts.
    let countsSize = finishedSize / 9 * 10
    return isWriting || isFull(countsSize, spilled: spillSize) ? try write() : []
  }

  /// Begins to write archives into a new ledger; returns rows that any thread can create.
  ///
  /// Pass all of them to `write(_:)` in order; then `write` makes the archives part of the ledger.
  /// Returns none when `write` does everything, because rows are merged with stored ones.
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

  /// Makes all finished archives part of the ledger; returns counts like `finish`.
  ///
  /// A power cut can undo only whole archives (`Ledger.checkpoint`).
  public override func write() throws(SubledgerError) -> [ArchiveCounts] {
    precondition(current == nil, "only whole archives are written for good")
    if !finished.isEmpty {
      try writeFinished()
      try ledger.access("add events") { try waiting.clear(in: $0) }
    }
    defer { written = [] }
    return written
  }

  /// Undoes the archive that is being read, or those whose pieces were returned; no others.
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

  /// Whether everything must be written when counts take `countsSize` bytes, or when more than
  /// `spilled` bytes are on disk.
  private func isFull(_ countsSize: Int, spilled: Int) -> Bool {
    countsSize + waiting.count > batchSize / 2 || waiting.spillSize > spilled
  }

  /// Writes all gathered events: finally those of archives before `draft`, and the part of the
  /// draft so that it can be undone.
  private func writePart(of draft: EventFileImport) throws(SubledgerError) {
    let parts = try ledger.change("spill events") { try waiting.parts(in: $0) }
    if !finished.isEmpty { try writeFinished(parts.before) }
    try change("add events") { try write([draft], by: writer(of: parts.last, in: $0), in: $0) }
    waiting = WriteBuffer()
    draft.start = 0
  }

  /// Writes the finished archives, whose events are those of `batch` or all that wait.
  private func writeFinished(_ batch: WriteBuffer.Batch? = nil) throws(SubledgerError) {
    let drafts = finished
    finished = []
    finishedContents = []
    finishedSize = 0
    try change("add events") { database in
      let writer = try writer ?? writer(of: batch ?? waiting.all(in: database), in: database)
      try write(drafts, by: writer, in: database)
      self.writer = nil
      for draft in drafts { try draft.close(in: database) }
      try ledger.lock?.requirePresence()
      try database.release("batch")
    }
    isWriting = false
    written += drafts.map(\.counts)
  }

  private func writer(
    of batch: WriteBuffer.Batch, in database: Connection
  ) throws -> EventWriter {
    // The archive that is being read may still be abandoned, with its words.
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
  /// error undoes everything since the beginning of the transaction.
  private func change(
    _ doing: String, _ body: (Connection) throws -> Void
  ) throws(SubledgerError) {
    do {
      try ledger.access(doing) { database in
        if !isWriting { try ledger.lock?.requirePresence() }
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
