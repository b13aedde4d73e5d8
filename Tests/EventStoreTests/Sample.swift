import EventStore
import TestSupport
import Testing
import Domain

@testable import Formats

/// One delivered line as tests write it.
struct Line {
  var provider = Provider.qonversion
  var transaction = "1001"
  var original = "1000"
  var user = "user-1"
  var app = "app"
  var kind = EventKind.renewed
  /// The provider's name for it; nil for the name of its kind.
  var name: String?
  var product = "pro.monthly"
  /// Seconds after the start of the samples.
  var time: Int64 = 0
  /// Seconds after `time`.
  var created: Int64?
  /// Seconds after `time`.
  var received: Int64?
  var usd: Int64? = 9_990_000
  var body = "body"
  /// Whether it is a state dated only by the end of its period.
  var isUndated = false
  /// Whether it is a state without its own date.
  var isTimeInferred = false
  /// The delivery of a collection that contained it; 0 for none.
  var collection: Int64 = 0
  /// Overrides the identity, to make two events collide.
  var identity: Int64?

  static let beginning: Int64 = 1_700_000_000_000

  var at: Instant { Instant(milliseconds: Self.beginning + time * 1000) }

  var lineage: Int64 {
    lineageKey(
      provider: provider, app: app, environment: .production, store: .appStore,
      original: original)
  }

  var identityKey: Int64 {
    if let identity { return identity }
    var fingerprint = Fingerprint()
    fingerprint.combine(app)
    fingerprint.combine(transaction)
    fingerprint.combine(UInt64(bitPattern: at.milliseconds))
    fingerprint.combine(UInt64(kind.rawValue))
    return fingerprint.value
  }
}

extension Instant {
  /// After everything.
  static let end = Instant(milliseconds: .max)
}

extension EventBatch {
  /// A batch in which every line is a separate value.
  static func of(_ lines: [Line], rejects: [Reject] = [], skipped: [String: Int64] = [:])
    -> EventBatch
  {
    var batch = EventBatch()
    for line in lines { batch.add(line, value: Int32(batch.events.count)) }
    batch.rejects = rejects
    batch.skipped = skipped
    batch.lines = Int64(lines.count + rejects.count) + skipped.values.reduce(0, +)
    return batch
  }

  mutating func add(_ line: Line, value: Int32) {
    var event = Event(
      provider: line.provider, environment: .production, store: .appStore, kind: line.kind,
      time: line.at)
    event.app = symbols.symbol(line.app)
    event.product = symbols.symbol(line.product)
    event.name = symbols.symbol(line.name ?? line.kind.name)
    event.lineage = line.lineage
    event.identity = line.identityKey
    event.body = Fingerprint.of(line.body)
    event.user = Fingerprint.of(line.user)
    event.transaction = transactionKey(line.transaction)
    event.startsLineage = line.transaction == line.original
    event.created = line.created.map { line.at + .seconds($0) }
    event.received = line.received.map { line.at + .seconds($0) }
    event.periodStart = line.at
    event.periodEnd = line.at + .days(30)
    if let usd = line.usd {
      event.revenue = Revenue(
        local: Amount(micros: usd), usd: Amount(micros: usd), currency: symbols.symbol("USD"),
        isProceed: false, rate: Amount(micros: 70_000_000))
    }
    if line.isUndated || line.isTimeInferred {
      event.observation = Observation()
      event.observation?.isUndated = line.isUndated
      event.observation?.isTimeInferred = line.isTimeInferred
    }
    event.collection = line.collection
    event.place = Provenance(
      line: Int64(events.count + 1), byteOffset: Int64(events.count * 100))
    var text = EventText()
    text.transaction = intern(line.transaction)
    text.original = intern(line.original)
    text.user = intern(line.user)
    events.append(event)
    texts.append(text)
    values.append(value)
  }

  private mutating func intern(_ text: String) -> TextRange {
    var text = text
    return text.withUTF8 { intern(UnsafeRawBufferPointer($0)) }
  }
}

/// Expects an error of this kind, and returns it.
@discardableResult
func expect<Value>(
  _ kind: SubledgerError.Kind, sourceLocation: SourceLocation = #_sourceLocation,
  from work: () throws -> Value
) -> SubledgerError? {
  let error = #expect(throws: SubledgerError.self, sourceLocation: sourceLocation) {
    _ = try work()
  }
  #expect(error?.kind == kind, "\(error as Any)", sourceLocation: sourceLocation)
  return error
}

extension NewArchive {
  static func named(_ name: String, kind: ArchiveKind = .events) -> NewArchive {
    var archive = NewArchive(name: name, sha256: "sha of \(name)", kind: kind)
    (archive.path, archive.bytes) = ("/in/\(name)", 10)
    (archive.modified, archive.inode) = (Instant(seconds: 5), 7)
    return archive
  }
}

extension Ledger {
  /// A new ledger whose file has no name any more.
  static func fresh() throws -> Ledger {
    let folder = try TemporaryFolder()
    return try withExtendedLifetime(folder) { try fresh(in: folder) }
  }

  /// A new ledger in `folder`.
  static func fresh(in folder: TemporaryFolder) throws -> Ledger {
    try open(path: folder.path("ledger.sqlite"), mode: .readWrite)
  }

  /// The counted events of a lineage, by time and identity; empty if it does not exist.
  func events(ofLineage key: Int64) throws -> [Event] {
    try lineage(key).map { try events(of: [$0]) } ?? []
  }

  /// The id of a lineage's user, empty when unknown; nil if the lineage does not exist.
  func user(ofLineage key: Int64) throws -> String? {
    try lineage(key).map { try userText($0.user) ?? "" }
  }

  /// Starts to ingest one archive that is written alone.
  func beginEvents(
    _ archive: NewArchive, schedules: [Provider: RetrySchedule] = [:]
  ) throws -> OneArchive {
    try OneArchive(archive, by: EventIntake(into: self, schedules: schedules))
  }

  /// Ingests an archive of one batch.
  @discardableResult
  func ingest(_ name: String, _ batch: EventBatch) throws -> ArchiveCounts {
    let intake = try beginEvents(.named(name))
    try intake.add(batch)
    return try intake.finish()
  }

  @discardableResult
  func ingest(_ name: String, _ lines: [Line]) throws -> ArchiveCounts {
    try ingest(name, EventBatch.of(lines))
  }

  /// Ingests a file of snapshots.
  @discardableResult
  func ingest(
    _ name: String, _ snapshots: [Snapshot], rejects: [Reject] = []
  ) throws -> ArchiveCounts {
    let intake = try SnapshotIntake(.named(name, kind: .snapshots), into: self)
    try intake.add(snapshots, rejects: rejects)
    return try intake.finish()
  }

  /// Replaces all facts with `facts`, as a fold of everything does.
  func fold(_ facts: Facts) throws {
    let basis = FactCheckpoint(asOf: Instant(seconds: 0), rules: "", archive: 0)
    let change = FoldChange(basis: basis, facts: facts)
    for piece in try begin(change) { try write(piece(), of: change) }
    try finish(change)
  }

  /// The rows of a query as text, with cells separated by bars and `-` for null.
  func table(_ sql: String) throws -> [String] {
    var table: [String] = []
    try rows(sql: sql) { row in
      table.append(
        (0..<row.columnCount).map { row.isNull($0) ? "-" : row.text($0) }.joined(separator: "|"))
    }
    return table
  }
}

/// An archive that is written as soon as it is finished.
struct OneArchive {
  let intake: EventIntake
  let archive: Int32

  init(_ new: NewArchive, by intake: EventIntake) throws {
    self.intake = intake
    archive = try intake.begin(new)
  }

  func add(_ batch: EventBatch) throws { try intake.add(batch) }

  func finish(damageOffset: Int64? = nil) throws -> ArchiveCounts {
    let damage = damageOffset.map { ArchiveDamage(offset: $0, detail: "") }
    let end = ArchiveEnd(inflatedBytes: 0, damage: damage, sha256: "", contentHash: 0)
    var counts = try intake.finish(end)
    counts += try intake.write()
    return try #require(counts.first)
  }

  func abandon() { intake.abandon() }
}

extension SnapshotIntake {
  func add(_ snapshots: [Snapshot], rejects: [Reject] = []) throws {
    try add(snapshots.map(EncodedSnapshot.init), rejects: rejects)
  }
}
