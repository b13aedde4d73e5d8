internal import Domain

/// Delivered events until they are written together: the last ones in memory, earlier ones in the
/// spill file.
///
/// They are numbered from 0 in order of arrival.
struct WriteBuffer {
  /// Events that are written together, and their numbers.
  struct Batch {
    let events: any DeliveredEvents
    let numbers: Range<Int>
  }

  private var batch = WriteBatch(start: 0)
  private var spillFile = SpillFile()
  /// The start of the archive that is being read.
  private var begin = Mark()

  private struct Mark {
    var events = 0
    var runs = 0
    var batch = WriteBatch.Mark()
  }

  var count: Int { batch.start + batch.end.events }

  /// Memory in use, in bytes, approximately.
  var size: Int { batch.size }

  /// Approximate bytes of spilled events on disk.
  var spillSize: Int { spillFile.size }

  /// Marks the start of another archive, to which the next events belong.
  mutating func beginArchive() {
    begin = Mark(events: count, runs: spillFile.count, batch: batch.end)
  }

  /// Adds the events of a batch, which have the ledger's symbols and provenance in `events`.
  mutating func add(_ events: [Event], of sent: EventBatch, in database: Connection) throws {
    let isAny = try spillFile.isOpen || database.isAny("user")
    let keys = try isAny ? UserKeys(database, isSpilled: spillFile.isOpen) : nil
    try sent.arena.withUnsafeBytes { arena in
      try batch.add(events, sent.texts.map { WriteBatch.Texts($0, in: arena) }, sent.notes, keys)
    }
  }

  /// Removes the events of the last archive.
  mutating func dropArchive() {
    if spillFile.count == begin.runs { return batch.drop(after: begin.batch) }
    spillFile.drop(after: begin.runs)
    batch = WriteBatch(start: begin.events)
  }

  /// Spills everything in memory, the last archive's events as a separate run.
  mutating func spill(in database: Connection) throws {
    var (spillFile, begin) = (spillFile, begin)
    if begin.batch.events > 0 {
      try spillFile.add(batch.events(upTo: begin.batch), in: database)
      begin.runs = spillFile.count
    }
    if begin.batch.events < batch.end.events {
      try spillFile.add(batch.events(after: begin.batch), in: database)
    }
    begin.batch = WriteBatch.Mark()
    batch = WriteBatch(start: count)
    (self.spillFile, self.begin) = (spillFile, begin)
  }

  mutating func all(in database: Connection) throws -> Batch {
    guard spillFile.count > 0 else {
      return Batch(events: batch.events(upTo: batch.end), numbers: 0..<count)
    }
    beginArchive()
    return try parts(in: database).before
  }

  mutating func parts(in database: Connection) throws -> (before: Batch, last: Batch) {
    try spill(in: database)
    return (
      Batch(
        events: spillFile.events(of: 0..<begin.runs, in: database), numbers: 0..<begin.events),
      Batch(
        events: spillFile.events(of: begin.runs..<spillFile.count, in: database),
        numbers: begin.events..<count)
    )
  }

  mutating func clear(in database: Connection) throws {
    try spillFile.clear(in: database)
    self = WriteBuffer()
  }
}
