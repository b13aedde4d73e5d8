internal import Domain
internal import Formats

/// An event archive during its import, with its counts until they are written.
final class EventFileImport {
  var archive: NewArchive
  let id: Int32
  /// The number of the run that will publish it.
  private let run: Int64
  /// The number of its first event in the write buffer.
  var start = 0
  /// What its reader reported at the end.
  var end: ArchiveEnd?
  private(set) var counts = ArchiveCounts()
  /// Earliest to latest event time, duplicates included.
  private var eventTimes: ClosedRange<Instant>?
  /// Values read since the draft was last written.
  private var values: Int32 = 0
  private let arrivals: ArrivalCounts
  private var attribution = LineAttribution()
  private var skipped: [String: Int64] = [:]
  private var rejects = RejectedLines()
  /// Unknown names of the whole archive, so that the same ones are kept however it is written.
  private var unknown = UnknownInput(namesMax: 200)
  private var customers = CustomerIDs()
  private var isListed = false
  /// Offset of the last value that contained events; −1 if there is none.
  private var importedUntil: Int64 = -1

  init(_ archive: NewArchive, id: Int32, run: Int64, schedules: [Provider: RetrySchedule]) {
    (self.archive, self.id, self.run) = (archive, id, run)
    arrivals = ArrivalCounts(schedules: schedules)
  }

  /// Memory in use, approximately; names and empty tables of an archive of one line take 3 KB.
  var size: Int {
    3072 + arrivals.size + rejects.size + attribution.size + unknown.size + customers.size
  }

  /// Counts the lines of a batch, collects the apps' own ids of its users, and adds its `events`,
  /// with symbols and provenance of the ledger.
  func add(_ batch: EventBatch, _ events: [Event]) {
    var withEvents: Int64 = 0
    for index in batch.values.indices
    where index == 0 || batch.values[index] != batch.values[index - 1] { withEvents += 1 }
    let skippedLines = batch.skipped.values.reduce(0, +)
    precondition(
      batch.lines == withEvents + skippedLines + Int64(batch.rejects.count),
      "every line of a batch has events, or is skipped or rejected")
    counts.lines += batch.lines
    counts.skipped += skippedLines
    counts.rejected += Int64(batch.rejects.count)
    for (reason, lines) in batch.skipped { skipped[reason, default: 0] += lines }
    rejects.add(batch.rejects)
    unknown.add(batch.unknown)
    customers.add(batch)
    var notes = batch.notes[...]
    for (index, event) in events.enumerated() {
      let isNoted = notes.first.map { Int($0.event) == index } ?? false
      let body = isNoted ? notes.popFirst() : nil
      importedUntil = max(importedUntil, event.place.byteOffset)
      let time = event.time...event.time
      eventTimes = eventTimes?.including(time) ?? time
      let isKnown = archive.previous.map { event.place.byteOffset <= $0.importedUntil } ?? false
      attribution.add(
        LineAttribution.Step(
          value: values + batch.values[index], arrival: isKnown ? nil : arrivals.enter(event),
          roundedAmounts: body?.roundedAmounts ?? 0,
          missingIsProceed: body?.missingIsProceed ?? 0))
    }
    values += Int32(truncatingIfNeeded: batch.lines)
  }

  /// Counts the results of its events, with which `results` begins.
  ///
  /// A value is accepted when anything in it is new. How a body was read is counted once.
  func resolve(_ results: ArraySlice<UpsertResult>) {
    var value: Int32?
    var isAccepted = false
    var results = results.makeIterator()
    attribution.forEach { step in
      guard let result = results.next() else { return }
      if let arrival = step.arrival { arrivals.count(result, at: arrival) }
      if step.value != value {
        isAccepted = false
        value = step.value
        counts.duplicates += 1
      }
      guard result == .new || result == .conflict else { return }
      counts.roundedAmounts += step.roundedAmounts
      counts.missingIsProceed += step.missingIsProceed
      guard !isAccepted else { return }
      isAccepted = true
      counts.accepted += 1
      counts.duplicates -= 1
    }
    attribution = LineAttribution()
  }

  /// Writes the counts since the last write; the events must be written already.
  static func write(_ archives: [EventFileImport], to database: Connection) throws {
    var arrivals: [Feed: FeedArrivals] = [:]
    for archive in archives { try archive.write(to: database, &arrivals) }
    let ordered = arrivals.sorted {
      ($0.key.provider.rawValue, $0.key.app) < ($1.key.provider.rawValue, $1.key.app)
    }
    for (feed, own) in ordered { try own.write(to: database, run: archives[0].run, feed) }
  }

  private func write(to database: Connection, _ feeds: inout [Feed: FeedArrivals]) throws {
    if !isListed { _ = try database.insertArchive(archive, status: .complete, id: id, run: run) }
    isListed = true
    try database.writeLines(skipped, to: "skipped", of: id)
    try rejects.write(of: id, to: database)
    try arrivals.write(to: database, run: run, &feeds)
    try customers.write(of: id, to: database)
    values = 0
  }

  /// Writes the complete counts.
  func close(in database: Connection) throws {
    try unknown.write(of: id, to: database)
    try database.closeArchive(
      id, counts, end?.damage, sha256: archive.sha256, eventTimes: eventTimes, content: previous)
  }

  /// The archive as one that a later archive may continue.
  var previous: PreviousArchive {
    PreviousArchive(
      stream: archive.previous?.stream ?? id, contentHash: end?.contentHash ?? 0,
      contentBytes: end?.inflatedBytes ?? 0,
      importedUntil: max(importedUntil, archive.previous?.importedUntil ?? -1),
      isWhole: end?.damage == nil)
  }
}

/// The origin of an archive's events until the result of each is known: about two bytes per event.
struct LineAttribution {
  struct Step {
    /// The value that contained the event, counted within its archive.
    let value: Int32
    /// Its slot in the archive's arrival counts; nil for an event that was delivered before.
    let arrival: Int32?
    var roundedAmounts: Int64 = 0
    var missingIsProceed: Int64 = 0
  }

  private var writer = ByteWriter()
  private var last: Int32 = 0

  /// Memory in use, in bytes, approximately.
  var size: Int { writer.bytes.capacity }

  /// Adds an event; its value is not less than that of the event before.
  mutating func add(_ step: Step) {
    let isNoted = step.roundedAmounts != 0 || step.missingIsProceed != 0
    writer.put(unsigned: UInt64(step.value - last) << 1 | (isNoted ? 1 : 0))
    writer.put(unsigned: UInt64((step.arrival ?? -1) + 1))
    if isNoted {
      writer.put(unsigned: UInt64(step.roundedAmounts))
      writer.put(unsigned: UInt64(step.missingIsProceed))
    }
    last = step.value
  }

  /// Calls `body` with every event, in order.
  func forEach(_ body: (Step) -> Void) {
    writer.bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      var value: Int32 = 0
      while !reader.isAtEnd {
        let risen = reader.unsigned()
        value += Int32(truncatingIfNeeded: risen >> 1)
        let arrival = Int32(truncatingIfNeeded: reader.unsigned()) - 1
        var step = Step(value: value, arrival: arrival < 0 ? nil : arrival)
        if risen & 1 == 1 {
          step.roundedAmounts = Int64(truncatingIfNeeded: reader.unsigned())
          step.missingIsProceed = Int64(truncatingIfNeeded: reader.unsigned())
        }
        body(step)
      }
    }
  }
}
