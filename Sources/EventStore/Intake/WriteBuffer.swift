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

  private var wave = WriteBatch(start: 0)
  private var aside = SpillFile()
  /// Where the archive that is being read begins.
  private var begin = Mark()

  private struct Mark {
    var events = 0
    var runs = 0
    var wave = WriteBatch.Mark()
  }

  /// How many there are.
  var count: Int { wave.start + wave.end.events }

  /// Memory held, in bytes, about.
  var size: Int { wave.size }

  /// Approximate bytes of spilled events on disk.
  var sizeAside: Int { aside.size }

  /// The next events belong to another archive.
  mutating func beginArchive() {
    begin = Mark(events: count, runs: aside.count, wave: wave.end)
  }

  /// Adds events whose symbols and place are the ledger's, with their texts.
  mutating func add(
    _ events: [Event], _ texts: [WriteBatch.Texts], in database: Connection
  ) throws {
    let isAny = try aside.isOpen || database.first("select 1 from user") { _ in true } ?? false
    try wave.add(events, texts, isAny ? UserKeys(database, isSpilled: aside.isOpen) : nil)
  }

  /// Removes the events of the last archive.
  mutating func dropArchive() {
    if aside.count == begin.runs { return wave.drop(after: begin.wave) }
    aside.drop(after: begin.runs)
    wave = WriteBatch(start: begin.events)
  }

  /// Spills everything in memory, the last archive's events as a run of their own.
  mutating func layAside(in database: Connection) throws {
    var (aside, begin) = (aside, begin)
    if begin.wave.events > 0 {
      try aside.add(wave.events(upTo: begin.wave), in: database)
      begin.runs = aside.count
    }
    if begin.wave.events < wave.end.events {
      try aside.add(wave.events(after: begin.wave), in: database)
    }
    begin.wave = WriteBatch.Mark()
    wave = WriteBatch(start: count)
    (self.aside, self.begin) = (aside, begin)
  }

  /// All events.
  mutating func all(in database: Connection) throws -> Batch {
    guard aside.count > 0 else {
      return Batch(events: wave.events(upTo: wave.end), numbers: 0..<count)
    }
    beginArchive()
    try layAside(in: database)
    return Batch(events: aside.events(of: 0..<aside.count, in: database), numbers: 0..<count)
  }

  /// The events before the last archive, and its own.
  mutating func parts(in database: Connection) throws -> (before: Batch, last: Batch) {
    try layAside(in: database)
    return (
      Batch(
        events: aside.events(of: 0..<begin.runs, in: database), numbers: 0..<begin.events),
      Batch(
        events: aside.events(of: begin.runs..<aside.count, in: database),
        numbers: begin.events..<count)
    )
  }

  /// Forgets all of them.
  mutating func clear(in database: Connection) throws {
    try aside.clear(in: database)
    self = WriteBuffer()
  }
}
