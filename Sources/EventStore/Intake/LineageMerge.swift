internal import Domain

/// What a delivered event was to the ledger.
enum UpsertResult: UInt8 {
  case new
  /// Known, and the body is the same byte for byte.
  case exact
  /// Known, in another body.
  case semantic
  /// Known, but something that reports read differs.
  case conflict
}

/// The state of a ledger that merging events needs.
struct MergeRules {
  /// Whether any version may lie in another lineage.
  let areInConflict: Bool
  /// Archives up to this number are known to a run that has published.
  let published: Int32
}

/// The results of merging that are not final yet.
struct MergeNotes {
  /// An identity whose counted version must be selected.
  struct Doubt {
    let identity: Int64
    let lineage: Int64
  }

  /// The identities of new events.
  var claims: [IdentityIndex.Claim] = []
  var doubts: [Doubt] = []
  /// What became of the others, by their numbers.
  var results: [(number: Int32, result: UpsertResult)] = []

  var count: Int { claims.count + doubts.count + results.count }

  static func += (left: inout MergeNotes, right: MergeNotes) {
    left.claims += right.claims
    left.doubts += right.doubts
    left.results += right.results
  }
}

/// Merges delivered events into the versions that one lineage has.
///
/// Copies of one version agree in all material fields; the last one counts, and earlier ones stay
/// when a run has published them. Versions of one event have the same identity, transaction, time
/// and kind; an equal identity alone is a collision of fingerprints, and then both events count.
struct LineageMerge {
  /// The versions by time, identity and version.
  private(set) var records: [EventRecord] = []
  /// Whether the stored versions changed.
  private(set) var isChanged = false
  /// Identities with several versions, or with a replaced one: the counted version is selected when
  /// other lineages are written, too.
  private var doubtful: [Int64] = []
  private var stored: [EventRecord] = []
  private var next = 0
  private var lineage: LineageHead?
  private let rules: MergeRules

  init(_ rules: MergeRules) { self.rules = rules }

  /// Merges `events`, which are arranged, with the versions that lie in `bytes`; both must stay
  /// until the lineage is written.
  mutating func merge(
    _ events: [DeliveredEvent], of lineage: LineageHead, stored bytes: UnsafeRawBufferPointer,
    noting notes: inout MergeNotes
  ) throws {
    try begin(lineage, stored: bytes)
    for event in events {
      let result = try add(event.record)
      if result == .new {
        notes.claims.append(
          IdentityIndex.Claim(
            identity: event.record.identity, lineage: lineage.key, number: event.number))
      } else {
        notes.results.append((event.number, result))
      }
    }
    // The stored versions behind the last delivered event.
    records += stored[next...]
    for identity in doubtful {
      notes.doubts.append(MergeNotes.Doubt(identity: identity, lineage: lineage.key))
    }
  }

  private mutating func begin(
    _ lineage: LineageHead, stored bytes: UnsafeRawBufferPointer
  ) throws {
    self.lineage = lineage
    records.removeAll(keepingCapacity: true)
    doubtful.removeAll(keepingCapacity: true)
    stored.removeAll(keepingCapacity: true)
    isChanged = false
    next = 0
    if !bytes.isEmpty { try EventRecords.forEach(in: bytes) { stored.append($0) } }
  }

  /// Adds a delivered event; they come by time and identity, copies in order of arrival.
  @inline(__always)
  private mutating func add(_ record: EventRecord) throws -> UpsertResult {
    while next < stored.count, !record.precedes(stored[next]) {
      records.append(stored[next])
      next += 1
    }
    guard let last = records.last, last.identity == record.identity, last.time == record.time
    else {
      records.append(record)
      isChanged = true
      return .new
    }
    return try compare(record)
  }

  /// Compares an event with the last records, which have its time and identity.
  private mutating func compare(_ record: EventRecord) throws -> UpsertResult {
    guard let lineage else { return .new }
    let version = try EventVersion(record, of: lineage.key, lineage.shop)
    let event = version.event
    var rival = records.count
    var hasVersion = false
    while rival > 0, records[rival - 1].identity == record.identity,
      records[rival - 1].time == record.time
    {
      rival -= 1
      let stored = try EventVersion(records[rival], of: lineage.key, lineage.shop)
      guard stored.isVersion(of: version) else { continue }
      let known = stored.event
      hasVersion = true
      guard known.material == event.material else { continue }
      if Recency(of: known) < Recency(of: event) {
        supersede(rival, from: known.place.archive, with: record)
      }
      return known.body == event.body ? .exact : .semantic
    }
    var added = record
    added.version = (records.last?.version ?? -1) + 1
    records.append(added)
    isChanged = true
    guard hasVersion else { return .new }
    doubtful.append(added.identity)
    return .conflict
  }

  /// Keeps the later of two copies of one version.
  ///
  /// The earlier one stays beside it when a published run used it, so that the run can be
  /// reproduced.
  private mutating func supersede(
    _ index: Int, from archive: Int32, with record: EventRecord
  ) {
    let isAlone = index == records.count - 1 && records[index].version == 0
    isChanged = true
    var later = records[index]
    later.user = record.user
    later.content = record.content
    if archive <= rules.published {
      records[index].counts = false
      later.version = (records.last?.version ?? -1) + 1
      records.append(later)
    } else {
      records[index] = later
    }
    if rules.areInConflict || !isAlone { doubtful.append(later.identity) }
  }
}

extension EventRecord {
  /// Whether it stands before a version of another event.
  @inline(__always)
  func precedes(_ other: EventRecord) -> Bool {
    time != other.time ? time < other.time : identity < other.identity
  }
}

extension Event {
  /// Whether both are versions of one event, with the same transaction, rather than sharing a
  /// fingerprint by chance.
  func isVersion(of other: Event) -> Bool {
    identity == other.identity && time == other.time && kind == other.kind
      && (kind != .other || name == other.name)
  }
}
