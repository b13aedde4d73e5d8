public import Domain

/// Counts the archives whose events are stored in a lake: writes what `EventIntake` writes, except
/// the events, which others merge.
public final class LakeIntake: ArchiveIntake {
  /// The archives that wait for `commit`, in order.
  public private(set) var waiting: [LakeArchive] = []
  /// Location of the file that is being read.
  public var place = LakeArchive(part: "", file: 0)
  /// Recently added users, to avoid lookups.
  private var users: Set<Int64> = []
  /// Results of all events so far, in the order of their numbers.
  private var results: [UpsertResult] = []
  private let published: Int32

  /// Begins an import of archives whose events are stored in a lake.
  public init(
    into ledger: Ledger, schedules: [Provider: RetrySchedule]
  ) throws(SubledgerError) {
    published = try ledger.access("number a run") { try $0.lastPublishedArchive() }
    super.init(ledger, schedules: schedules)
  }

  /// Begins an archive with new content, and returns its number in the ledger.
  @discardableResult
  public override func begin(_ archive: NewArchive) throws(SubledgerError) -> Int32 {
    // Rows of a lake, and so the end of an archive, can be lost.
    current = nil
    let id = try super.begin(archive)
    current?.start = results.count
    (place.archive, place.published) = (id, published)
    return id
  }

  override func take(_ batch: EventBatch, of draft: EventFileImport) throws(SubledgerError) {
    try ledger.change("add users") { database in
      let keys = try UserKeys(database)
      if users.count > 100_000 { users = [] }
      for (index, event) in batch.events.enumerated()
      where event.user != 0 && users.insert(event.user).inserted {
        let id = batch.text(batch.texts[index].user)
        // Erased persons have no id.
        if !id.isEmpty { _ = try keys.keep(id: id) }
      }
    }
    try super.take(batch, of: draft)
    results += repeatElement(.new, count: batch.events.count)
  }

  override func writeIfFull(with draft: EventFileImport) -> [ArchiveCounts] {
    waiting.append(place)
    return []
  }

  /// Undoes the archive that is being read.
  public override func abandon() {
    if let draft = current { results.removeSubrange(draft.start...) }
    super.abandon()
  }

  /// Takes the result of an event that was not new: number `number` of an archive, from 0.
  ///
  /// Returns false when no such event waits.
  public func take(_ result: UInt8, of number: Int, in archive: Int32) -> Bool {
    let place = finished.indices.partitioningIndex { finished[$0].id >= archive }
    guard place < finished.count, finished[place].id == archive, number >= 0,
      let result = UpsertResult(rawValue: result), finished[place].start + number < results.count
    else { return false }
    results[finished[place].start + number] = result
    return true
  }

  /// Makes all finished archives part of the ledger, with the results that were taken.
  public func commit() throws(SubledgerError) -> [ArchiveCounts] {
    defer { (finished, waiting, finishedContents, results) = ([], [], [], []) }
    guard !finished.isEmpty else { return [] }
    try ledger.change("add archives") { database in
      try ledger.saveSymbols(in: database)
      for draft in finished { draft.resolve(results[draft.start...]) }
      try EventFileImport.write(finished, to: database)
      for (draft, place) in zip(finished, waiting) {
        try draft.close(in: database)
        try database.run(
          """
          insert into lake_archive (archive, part, file, attempt, published)
          values (?, ?, ?, ?, ?)
          """, place.archive, place.part, place.file, place.attempt, place.published)
      }
    }
    return finished.map(\.counts)
  }
}
