internal import Domain

/// The account of one archive of events until it is written.
final class ArchiveDraft {
  let archive: NewArchive
  let id: Int32
  /// The number of the run that will publish it.
  private let run: Int64
  /// The number of its first event among those that wait.
  var start: Int
  var damageOffset: Int64?
  private(set) var tallies = ArchiveTallies()
  /// Values that came since the draft was last written.
  private(set) var values: Int32 = 0
  private let arrivals: ArrivalAccount
  private var trail = LineAttribution()
  private var skipped: [String: Int64] = [:]
  private var rejects = RejectAccount()
  private var isListed = false
  /// Up to which value an archive that this one goes on from has told it all.
  private let knownUntil: Int64
  /// Where the last value stands that brought events; −1 without one.
  private var toldUntil: Int64 = -1

  init(
    _ archive: NewArchive, id: Int32, run: Int64, start: Int, arrivals: ArrivalAccount,
    knownUntil: Int64?
  ) {
    self.archive = archive
    self.knownUntil = knownUntil ?? -1
    self.id = id
    self.run = run
    self.start = start
    self.arrivals = arrivals
  }

  /// Memory held, about; the names and the empty tables of an archive of one line take 3 KB.
  var size: Int { 3072 + arrivals.size + rejects.size + trail.size }

  /// Enters a delivered event that value number `value` brought, and what its body was read as.
  func enter(_ event: Event, value: Int32, reading: BodyReading?) {
    toldUntil = max(toldUntil, event.place.byteOffset)
    tallies.firstEvent = min(tallies.firstEvent ?? event.time, event.time)
    tallies.lastEvent = max(tallies.lastEvent ?? event.time, event.time)
    let isTold = event.place.byteOffset <= knownUntil
    trail.add(
      LineAttribution.Step(
        value: value, arrival: isTold ? nil : arrivals.enter(event),
        roundedAmounts: reading?.roundedAmounts ?? 0,
        missingIsProceed: reading?.missingIsProceed ?? 0))
  }

  /// Counts the lines of a batch.
  func count(_ batch: EventBatch) {
    var brought: Int64 = 0
    for index in batch.values.indices
    where index == 0 || batch.values[index] != batch.values[index - 1] { brought += 1 }
    let left = batch.skipped.values.reduce(0, +)
    precondition(
      batch.lines == brought + left + Int64(batch.rejects.count),
      "every line of a batch brings events, or is skipped or rejected")
    values += Int32(truncatingIfNeeded: batch.lines)
    tallies.lines += batch.lines
    tallies.skipped += left
    tallies.rejected += Int64(batch.rejects.count)
    for (reason, lines) in batch.skipped { skipped[reason, default: 0] += lines }
    rejects.add(batch.rejects)
  }

  /// Counts what became of its events, whose fates `fates` begins with.
  ///
  /// A value is accepted when anything that it brought is new. How a body was read is counted with
  /// its event, once.
  func settle(_ fates: ArraySlice<UpsertResult>) {
    var value: Int32?
    var isAccepted = false
    var fates = fates.makeIterator()
    trail.forEach { step in
      guard let fate = fates.next() else { return }
      if let arrival = step.arrival { arrivals.count(fate, at: arrival) }
      if step.value != value {
        isAccepted = false
        value = step.value
        tallies.duplicates += 1
      }
      guard fate == .new || fate == .conflict else { return }
      tallies.roundedAmounts += step.roundedAmounts
      tallies.missingIsProceed += step.missingIsProceed
      guard !isAccepted else { return }
      isAccepted = true
      tallies.accepted += 1
      tallies.duplicates -= 1
    }
    trail = LineAttribution()
  }

  /// Writes what was counted since it was last written.
  func write(to database: Connection) throws {
    let rows = ArchiveRows(database)
    if !isListed { _ = try rows.insert(archive, status: .complete, id: id, run: run) }
    isListed = true
    try rows.insert(skipped, of: id)
    try rejects.write(of: id, to: database)
    try arrivals.write(to: database)
    skipped = [:]
    values = 0
  }

  /// Enters the account as a whole.
  func close(in database: Connection) throws {
    try ArchiveRows(database).close(
      id, tallies, damageOffset: damageOffset, toldUntil: toldUntil < 0 ? nil : toldUntil)
  }
}
