internal import GRDB
public import Vocabulary

/// Takes archives of events into the ledger, each whole or not at all.
///
/// Archives gather in memory and are written together, because an event is cheapest to write among
/// its lineage's others. Order of arrival decides nothing but the numbers of versions and symbols:
/// which version of an event counts, its times and its user, and a lineage's user, follow from the
/// set of lines alone.
public final class EventIntake {
  private let ledger: Ledger
  private let calendar: CivilCalendar
  private let schedules: [Provider: RetrySchedule]
  /// Memory that may be held before something is written.
  private let waveSize: Int
  private var wave = EventWave()
  /// Whole archives that wait to be written.
  private var finished: [ArchiveDraft] = []
  private var finishedSize = 0
  /// SHA-256 of each of them: a night can have a hundred thousand.
  private var finishedContents: Set<String> = []
  /// The archive that is being read.
  private var current: ArchiveDraft?
  /// Tallies of archives that are written and not yet told.
  private var written: [ArchiveTallies] = []
  /// Whether a part of an archive is written that can still be undone.
  private var isWriting = false
  private var symbolsBefore = SymbolTable()
  private var usersBefore = 0

  init(
    ledger: Ledger, calendar: CivilCalendar, schedules: [Provider: RetrySchedule], waveSize: Int
  ) {
    self.ledger = ledger
    self.calendar = calendar
    self.schedules = schedules
    self.waveSize = waveSize
  }

  deinit { abandon() }

  /// Whether the bytes of an archive are in the ledger, or wait to be written.
  public func isKnown(sha256: String) throws(LedgerError) -> Bool {
    if finishedContents.contains(sha256) { return true }
    return try ledger.archiveWithContent(sha256: sha256) != nil
  }

  /// JSON values of the archive that is being read, so far.
  public var lines: Int64 { current?.tallies.lines ?? 0 }

  /// Memory held, about.
  private var size: Int { wave.size + finishedSize }

  /// Begins an archive whose content is not known, and gives back the ledger's number of it.
  ///
  /// Values up to `knownUntil`, an offset in the inflated archive, were delivered with an archive
  /// that this one goes on from, and are no deliveries again.
  @discardableResult
  public func begin(
    _ archive: NewArchive, knownUntil: Int64? = nil
  ) throws(LedgerError) -> Int32 {
    precondition(current == nil, "one archive is taken in at a time")
    let isKnown = try isKnown(sha256: archive.sha256)
    precondition(!isKnown, "the content of an archive is read once")
    let id = try ledger.nextArchive()
    let run = try ledger.arrivalRun().number
    symbolsBefore = ledger.symbols
    usersBefore = wave.users.count
    current = ArchiveDraft(
      archive, id: id, run: run, start: wave.entries.count,
      arrivals: ArrivalAccount(run: run, calendar: calendar, schedules: schedules),
      knownUntil: knownUntil)
    return id
  }

  /// Adds the events of a batch; when it throws, the whole archive is undone.
  ///
  /// Events are written together, so what is wrong with one may be thrown by a later call.
  public func add(_ batch: EventBatch) throws(LedgerError) {
    precondition(
      batch.events.count == batch.texts.count && batch.events.count == batch.values.count,
      "every event of a batch has its texts and its value")
    guard let draft = current else {
      preconditionFailure("nothing is added to an archive that is finished or abandoned")
    }
    do {
      try ledger.access("add events") { database in
        try gather(try ledger.forgetting(batch, in: database), of: draft)
      }
      if size + draft.size > waveSize { try writePart(of: draft) }
    } catch {
      abandon()
      throw error
    }
  }

  /// Closes the account of the archive, which is written now or with one of the next.
  ///
  /// `damageOffset` is the byte from which on the archive could not be read. Gives back the tallies
  /// of all archives written since they were last asked for.
  public func finish(damageOffset: Int64? = nil) throws(LedgerError) -> [ArchiveTallies] {
    guard let draft = current else { preconditionFailure("an archive is finished once") }
    draft.damageOffset = damageOffset
    finished.append(draft)
    finishedContents.insert(draft.archive.sha256)
    finishedSize += draft.size
    current = nil
    return isWriting || size > waveSize / 10 * 9 ? try write() : []
  }

  /// Makes all finished archives part of the ledger; gives back tallies like `finish`.
  ///
  /// What a power cut can undo of it is whole archives (`Ledger.checkpoint`).
  public func write() throws(LedgerError) -> [ArchiveTallies] {
    precondition(current == nil, "only whole archives are written for good")
    if !finished.isEmpty { try writeFinished() }
    defer { written = [] }
    return written
  }

  /// Undoes the archive that is being read; those before it are not touched.
  public func abandon() {
    guard let draft = current else { return }
    current = nil
    if isWriting { return undo() }
    wave.drop(entriesAfter: draft.start, usersAfter: usersBefore)
    ledger.symbols = symbolsBefore
  }

  private func gather(_ batch: EventBatch, of draft: ArchiveDraft) throws {
    let symbols = batch.symbols.words.map { ledger.symbols.symbol($0) }
    let firstValue = draft.values
    draft.count(batch)
    try batch.arena.withUnsafeBytes { arena in
      for index in batch.events.indices {
        let event = batch.events[index].translated(by: symbols, archive: draft.id)
        try wave.add(
          event, texts: EventWave.Texts(batch.texts[index], in: arena),
          value: firstValue + batch.values[index], arrival: draft.enter(event))
      }
    }
  }

  /// Writes what is gathered, so that memory stays bounded however long an archive is.
  ///
  /// Archives before it are written for good, its own part so that it can be undone.
  private func writePart(of draft: ArchiveDraft) throws(LedgerError) {
    let events = draft.start..<wave.entries.count
    if !finished.isEmpty { try writeFinished(upTo: draft.start) }
    try change("add events") { try write(events, of: [draft], users: wave.users.count, in: $0) }
    wave = EventWave()
    draft.start = 0
  }

  private func writeFinished(upTo end: Int? = nil) throws(LedgerError) {
    let drafts = finished
    finished = []
    finishedContents = []
    finishedSize = 0
    try change("add events") { database in
      try write(
        0..<(end ?? wave.entries.count), of: drafts,
        users: end == nil ? wave.users.count : usersBefore, in: database)
      for draft in drafts { try draft.close(in: database) }
      try database.release("wave")
    }
    isWriting = false
    written += drafts.map(\.tallies)
    if end == nil { wave = EventWave() }
  }

  private func write(
    _ events: Range<Int>, of drafts: [ArchiveDraft], users: Int, in database: Database
  ) throws {
    try ledger.saveSymbols(in: database)
    let fates = try WaveWriter(
      wave, range: events, words: ledger.symbols.words, database: database
    ).write()
    let lineages = try LineageWriter(database)
    for user in wave.users[..<users].sorted(by: { $0.key < $1.key }) {
      try lineages.keep(user: user.key, id: user.id)
    }
    for (index, draft) in drafts.enumerated() {
      let end = index + 1 < drafts.count ? drafts[index + 1].start : events.upperBound
      draft.settle(
        wave.entries[draft.start..<end],
        fates: fates[(draft.start - events.lowerBound)..<(end - events.lowerBound)])
      try draft.write(to: database)
    }
  }

  /// Runs `body` in the transaction of the wave, which goes on until `wave` is released; what it
  /// throws undoes everything since it began.
  private func change(
    _ doing: String, _ body: (Database) throws -> Void
  ) throws(LedgerError) {
    do {
      try ledger.access(doing) { database in
        if !isWriting { try database.savepoint("wave") }
        isWriting = true
        try body(database)
      }
    } catch {
      undo()
      throw error
    }
  }

  /// Undoes what is written but not for good, and forgets what waits.
  private func undo() {
    isWriting = false
    wave = EventWave()
    finished = []
    finishedContents = []
    finishedSize = 0
    try? ledger.access("undo an archive") { database in
      // After a full disk or a broken one, SQLite has rolled back already.
      if database.isInsideTransaction { try database.rollBack("wave") }
      try ledger.reloadSymbols(from: database)
    }
  }
}

extension Ledger {
  /// Begins to take in archives of events; days of their deliveries are those of `calendar`.
  ///
  /// The attempts at which they came are told by `schedules`, else by what a provider publishes.
  /// `waveSize` is the memory, in bytes, that events may hold before they are written.
  public func beginEvents(
    calendar: CivilCalendar, schedules: [Provider: RetrySchedule] = [:], waveSize: Int = 104 << 20
  ) -> EventIntake {
    EventIntake(ledger: self, calendar: calendar, schedules: schedules, waveSize: waveSize)
  }
}
