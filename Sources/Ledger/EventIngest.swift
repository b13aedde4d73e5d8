internal import GRDB
public import Vocabulary

/// Takes the events of one archive into the ledger, whole or not at all.
///
/// Order of arrival decides nothing but the numbers of versions and symbols: which version of an
/// event counts, its times and its user, and a lineage's user, follow from the set of lines alone.
public final class EventIngest {
  private let entry: ArchiveEntry
  private let arrivals: ArrivalAccount
  /// Batches that wait to be written together: the more events are sorted at once, the fewer
  /// times a page of the table is touched.
  private var waiting: [EventBatch] = []
  private var waitingEvents = 0

  /// About 16 MiB of events.
  private static let waitingEventsMax = 32_768

  private init(entry: ArchiveEntry, arrivals: ArrivalAccount) {
    self.entry = entry
    self.arrivals = arrivals
  }

  static func begin(
    _ archive: NewArchive, calendar: CivilCalendar, schedules: [Provider: RetrySchedule],
    in ledger: Ledger
  ) throws(LedgerError) -> EventIngest {
    EventIngest(
      entry: try ArchiveEntry.begin(archive, in: ledger),
      arrivals: ArrivalAccount(calendar: calendar, schedules: schedules))
  }

  /// The ledger's number of the archive.
  public var archive: Int32 { entry.id }

  /// Adds the events of a batch; when it throws, the whole archive is undone.
  ///
  /// Batches are gathered and written together, so what is wrong with one may be thrown by a
  /// later call.
  public func add(_ batch: EventBatch) throws(LedgerError) {
    precondition(
      batch.events.count == batch.texts.count && batch.events.count == batch.values.count,
      "every event of a batch has its texts and its value")
    waiting.append(batch)
    waitingEvents += batch.events.count
    if waitingEvents >= Self.waitingEventsMax { try write() }
  }

  /// Closes the account and makes everything of the archive part of the ledger.
  ///
  /// `damageOffset` is the byte from which on the archive could not be read.
  public func finish(damageOffset: Int64? = nil) throws(LedgerError) -> ArchiveTallies {
    try write()
    try entry.add("write the account of deliveries") { try arrivals.write(to: $0) }
    return try entry.finish(damageOffset: damageOffset)
  }

  /// Undoes everything that was added.
  public func abandon() {
    waiting = []
    entry.abandon()
  }

  private func write() throws(LedgerError) {
    let batches = waiting
    waiting = []
    waitingEvents = 0
    try entry.add("add events") { database in
      let symbols = try batches.map { try entry.ledger.translate($0.symbols, in: database) }
      let writer = try EventWriter(
        entry: entry, database: database, batches: batches, symbols: symbols)
      let fates = try writer.write()
      for (index, batch) in batches.enumerated() {
        try settleAccount(of: batch, fates: fates[index], symbols: symbols[index], in: database)
      }
    }
  }

  private func settleAccount(
    of batch: EventBatch, fates: [EventFate], symbols: [Symbol], in database: Database
  ) throws {
    var isAccepted = [Bool?](repeating: nil, count: Int(batch.values.max() ?? -1) + 1)
    for (index, event) in batch.events.enumerated() {
      let fate = fates[index]
      arrivals.add(event, app: symbols[Int(event.app)], fate: fate)
      entry.cover(event.time)
      let value = Int(batch.values[index])
      isAccepted[value] = (isAccepted[value] ?? false) || fate == .new || fate == .conflict
    }
    if arrivals.isLarge { try arrivals.write(to: database) }
    let values = isAccepted.compactMap { $0 }
    let accepted = Int64(values.count { $0 })
    try entry.count(
      lines: batch.lines, accepted: accepted, duplicates: Int64(values.count) - accepted,
      skipped: batch.skipped, rejects: batch.rejects, in: database)
    entry.count(
      roundedAmounts: batch.roundedAmounts, missingIsProceed: batch.missingIsProceed)
  }
}

extension Ledger {
  /// Begins to take in an archive of events; days of its deliveries are those of `calendar`.
  ///
  /// The attempts at which they came are told by `schedules`, else by what a provider publishes.
  /// One archive at a time, each content once: ask `archiveWithContent` before.
  public func beginEvents(
    _ archive: NewArchive, calendar: CivilCalendar, schedules: [Provider: RetrySchedule] = [:]
  ) throws(LedgerError) -> EventIngest {
    try EventIngest.begin(archive, calendar: calendar, schedules: schedules, in: self)
  }

  /// The ledger's symbols for those of `table`, at the place of their number; new words are kept.
  func translate(_ table: SymbolTable, in database: Database) throws -> [Symbol] {
    var translation: [Symbol] = []
    translation.reserveCapacity(table.words.count)
    for word in table.words {
      let known = symbols.words.count
      let symbol = symbols.symbol(word)
      translation.append(symbol)
      guard Int(symbol) >= known else { continue }
      let statement = try RawStatement(
        cachedIn: database, "insert into symbol (id, word) values (?, ?)")
      statement.bind(1, Int64(symbol))
      statement.bind(2, word)
      try statement.run()
    }
    return translation
  }
}
