public import Domain

/// Takes in archives of events, each whole or not at all.
public protocol ArchiveIntake: AnyObject {
  /// Whether the bytes of an archive are in the ledger, or wait to be written.
  func isKnown(sha256: String) throws(SubledgerError) -> Bool
  /// JSON values of the archive that is being read, so far.
  var lines: Int64 { get }
  /// The archives that were read in this import, by the hash of their first lines.
  var formers: [Int64: [FormerArchive]] { get }
  /// Begins an archive with new content, and returns its number in the ledger.
  @discardableResult
  func begin(_ archive: NewArchive) throws(SubledgerError) -> Int32
  /// Adds the events of a batch; when it throws, the whole archive is undone.
  func add(_ batch: EventBatch) throws(SubledgerError)
  /// Closes the account of the archive; returns the counts of archives that are written.
  func finish(
    sha256: String?, damageOffset: Int64?, provisionalFrom: Int64?, contentBytes: Int64,
    contentHash: Int64
  ) throws(SubledgerError) -> [ArchiveCounts]
  /// Writes what is finished; returns the counts of archives that are written.
  func write() throws(SubledgerError) -> [ArchiveCounts]
  /// Undoes the archive that is being read.
  func abandon()
}

extension EventIntake: ArchiveIntake {}

/// The account of archives whose events lie in a lake: all of what `EventIntake` writes but the
/// events, whose merging others do.
public final class LakeIntake: ArchiveIntake {
  private let ledger: Ledger
  private let schedules: [Provider: RetrySchedule]
  private var current: EventFileImport?
  private var finished: [(draft: EventFileImport, place: LakeArchive)] = []
  private var contents: Set<String> = []
  /// Where the file that is being read lies.
  public var place = LakeArchive(part: "", file: 0)
  /// The archives that were read in this import, by the hash of their first lines.
  public private(set) var formers: [Int64: [FormerArchive]] = [:]
  private var events = 0
  private var symbolsBefore = StringTable()
  /// Users of late, so that few are looked up.
  private var users: Set<Int64> = []
  /// What became of each event, in the order of their numbers.
  private var results: [UpsertResult] = []
  private let published: Int32

  init(_ ledger: Ledger, schedules: [Provider: RetrySchedule]) throws(SubledgerError) {
    (self.ledger, self.schedules) = (ledger, schedules)
    published = try ledger.access("number a run") {
      try ArrivalRun(in: $0).published(in: $0)
    }
  }

  /// Whether the bytes of an archive are in the ledger, or wait to be written.
  public func isKnown(sha256: String) throws(SubledgerError) -> Bool {
    if sha256.isEmpty { return false }
    if contents.contains(sha256) { return true }
    return try ledger.archiveWithContent(sha256: sha256, kind: .events) != nil
  }

  /// JSON values of the archive that is being read, so far.
  public var lines: Int64 { current?.counts.lines ?? 0 }

  /// The archives that wait for `write`, in their order.
  public var waiting: [LakeArchive] { finished.map(\.place) }

  /// Begins an archive with new content, and returns its number in the ledger.
  @discardableResult
  public func begin(_ archive: NewArchive) throws(SubledgerError) -> Int32 {
    let id = try ledger.nextArchive()
    let run = try ledger.arrivalRun().number
    symbolsBefore = ledger.symbols
    (place.archive, place.published) = (id, published)
    current = EventFileImport(
      archive, id: id, run: run, start: events,
      arrivals: ArrivalAccount(run: run, schedules: schedules))
    return id
  }

  /// Adds the account of a batch; when it throws, the whole archive is undone.
  public func add(_ batch: EventBatch) throws(SubledgerError) {
    guard let draft = current else { return }
    do {
      try ledger.change("add users") { try keepUsers(of: batch, in: $0) }
    } catch {
      abandon()
      throw error
    }
    draft.add(batch, ledger.translated(batch, of: draft.id).events)
    events += batch.events.count
  }

  private func keepUsers(of batch: EventBatch, in database: Connection) throws {
    let keys = try UserKeys(database)
    if users.count > 100_000 { users = [] }
    for (index, event) in batch.events.enumerated()
    where event.user != 0 && users.insert(event.user).inserted {
      let id = batch.text(batch.texts[index].user)
      // Of erased persons there is none.
      if !id.isEmpty { _ = try keys.keep(id: id) }
    }
  }

  /// Closes the account of the archive, which waits for `commit`.
  public func finish(
    sha256: String?, damageOffset: Int64?, provisionalFrom: Int64?, contentBytes: Int64,
    contentHash: Int64
  ) throws(SubledgerError) -> [ArchiveCounts] {
    guard let draft = current else { return [] }
    draft.archive.sha256 = sha256 ?? draft.archive.sha256
    (draft.damageOffset, draft.provisionalFrom) = (damageOffset, provisionalFrom)
    (draft.contentBytes, draft.contentHash) = (contentBytes, contentHash)
    if let beginning = draft.archive.beginning, provisionalFrom == nil {
      formers[beginning, default: []].append(draft.former)
    }
    finished.append((draft, place))
    contents.insert(draft.archive.sha256)
    current = nil
    return []
  }

  /// Undoes the archive that is being read.
  public func abandon() {
    guard let draft = current else { return }
    events = draft.start
    current = nil
    ledger.symbols = symbolsBefore
  }

  /// Takes what became of an event that was not new: number `number` of an archive, from 0.
  ///
  /// Returns false when no such event waits.
  public func take(_ result: UInt8, of number: Int, in archive: Int32) -> Bool {
    if results.isEmpty { results = Array(repeating: .new, count: events) }
    let place = finished.indices.partitioningIndex { finished[$0].draft.id >= archive }
    guard place < finished.count, finished[place].draft.id == archive, number >= 0,
      let result = UpsertResult(rawValue: result), finished[place].draft.start + number < events
    else { return false }
    results[finished[place].draft.start + number] = result
    return true
  }

  /// Nothing: the results of merging come when all archives are read.
  public func write() -> [ArchiveCounts] { [] }

  /// Makes all finished archives part of the ledger, by the results that were taken.
  public func commit() throws(SubledgerError) -> [ArchiveCounts] {
    defer {
      (finished, contents, results, events) = ([], [], [], 0)
    }
    guard !finished.isEmpty else { return [] }
    if results.isEmpty { results = Array(repeating: .new, count: events) }
    try ledger.change("add archives") { database in
      try ledger.saveSymbols(in: database)
      for (draft, _) in finished { draft.resolve(results[draft.start...]) }
      try EventFileImport.write(finished.map(\.draft), to: database)
      for (draft, place) in finished {
        try draft.close(in: database)
        try database.run(
          """
          insert into lake_archive (archive, part, file, attempt, published)
          values (?, ?, ?, ?, ?)
          """, place.archive, place.part, Int64(place.file), Int64(place.attempt),
          place.published)
      }
    }
    return finished.map(\.draft.counts)
  }
}

extension Ledger {
  /// Begins an import of archives whose events lie in a lake.
  public func beginLakeEvents(
    schedules: [Provider: RetrySchedule]
  ) throws(SubledgerError) -> LakeIntake {
    try LakeIntake(self, schedules: schedules)
  }
}
