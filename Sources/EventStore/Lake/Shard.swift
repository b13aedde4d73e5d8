public import Domain

/// A process's own ledger with the events of some users and all that may belong together with them,
/// or of all users.
///
/// It begins as a copy of the ledger without events, so that words, archives and runs have the same
/// numbers.
public final class Shard {
  private let ledger: Ledger
  /// The last events of an archive, and their numbers in it.
  private var batch = EventBatch()
  private var numbers: [Int32] = []
  private var (archive, published): (Int32, Int32) = (0, 0)
  private var waiting = WriteBuffer()
  /// Archive and number of the waiting events.
  private var origins: [(archive: Int32, number: Int32)] = []
  /// The last archive that the cells contain; nil once all events of such archives are merged.
  private var folded: Int32?
  private let erased: Set<Int64>
  /// Memory for events before they are spilled, in bytes.
  private static let batchSize = 48 << 20
  private let note: (_ archive: Int32, _ number: Int32, _ result: UInt8) throws -> Void

  /// Removes everything that follows from events from `copy`.
  ///
  /// - Parameter note: receives the result of each event that was not new.
  public init(
    _ copy: Ledger,
    note: @escaping (_ archive: Int32, _ number: Int32, _ result: UInt8) throws -> Void
  ) throws(SubledgerError) {
    (ledger, self.note) = (copy, note)
    erased = try copy.erasedUsers()
    folded = try copy.foldBasis()?.archive ?? 0
    try copy.change("empty a copy") { database in
      try database.removeEvents()
      try database.execute("create temp table own (user integer primary key)")
    }
  }

  /// Adds the event in a row, in the order of its archive, after those of archives with lower
  /// numbers; false when the row is not that of an event.
  ///
  /// - Parameters:
  ///   - number: the number of the event in the archive, from 0.
  ///   - published: the last archive that a run had published when this one was read.
  public func add(
    row: Substring, number: Int32, of archive: Int32, published: Int32
  ) throws -> Bool {
    if (archive, published) != (self.archive, self.published) || numbers.count >= 1_024 {
      try addBatch()
      if published != self.published { try merge() }
      (self.archive, self.published) = (archive, published)
      if let folded, archive > folded { try settle() }
    }
    numbers.append(number)
    return batch.add(row: row)
  }

  private func addBatch() throws(SubledgerError) {
    guard !numbers.isEmpty else { return }
    // Only the pseudonym is left of erased persons.
    for (index, event) in batch.events.enumerated() where erased.contains(event.user) {
      batch.texts[index].user = 0..<0
    }
    try ledger.change("add events") { database in
      try waiting.add(ledger.translated(batch, of: archive), of: batch, in: database)
      origins += numbers.map { (archive, $0) }
      if waiting.size > Self.batchSize { try waiting.spill(in: database) }
    }
    (batch, numbers) = (EventBatch(), [])
  }

  /// Records that the snapshots of a user are compared here.
  public func add(user: Int64) throws(SubledgerError) {
    try ledger.access("note a user") {
      try $0.run("insert into own (user) values (?) on conflict do nothing", user)
    }
  }

  /// Merges the waiting events, and links subscriptions that several providers report.
  ///
  /// - Parameter keepsSnapshots: whether snapshots of users who were not recorded stay.
  public func finish(keepsSnapshots: Bool) throws {
    try addBatch()
    if folded == nil { try merge() } else { try settle() }
    try ledger.change("complete a copy") { database in
      try database.run(
        """
        insert into due (hour, lineage)
        select \(DueHour.atOnce), key from customer join lineage on lineage.user = customer.user
        where customer.user <> 0 and customer.archive > (select archive from fold)
        on conflict do nothing
        """)
      guard !keepsSnapshots else { return }
      for table in ["snapshot", "snapshot_due"] {
        try database.execute("delete from \(table) where user not in (select user from own)")
      }
    }
    try ledger.linkLineages()
  }

  /// Merges events that the cells contain, for which nothing is due.
  private func settle() throws {
    try merge()
    folded = nil
    try ledger.change("add events") {
      try $0.execute("delete from due where hour = \(DueHour.atOnce)")
    }
  }

  private func merge() throws {
    guard !origins.isEmpty else { return }
    let results = try ledger.change("add events") { database in
      try ledger.saveSymbols(in: database)
      var writer = try EventWriter(
        try waiting.all(in: database), words: ledger.symbols.words, database: database,
        published: published)
      return try writer.write()
    }
    try ledger.visit("add events") { try waiting.clear(in: $0) }
    for (origin, result) in zip(origins, results) where result != .new {
      try note(origin.archive, origin.number, result.rawValue)
    }
    origins.removeAll(keepingCapacity: true)
  }
}
