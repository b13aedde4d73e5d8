internal import Domain

/// The result of adding a delivered event to the ledger.
enum UpsertResult: UInt8 {
  case new
  /// Known, with the same body, byte for byte.
  case exact
  /// Known, with another body.
  case semantic
  /// Known, but a field that reports read differs.
  case conflict
}

/// The state of a ledger that affects the merging of events.
struct MergeRules {
  let words: [String]
  /// Whether versions of an event may be in another lineage.
  let areInConflict: Bool
  /// Number of the last archive known to a published run.
  let published: Int32
  /// Returns the signal that asked to stop, 0 if there is none.
  let stop: (@Sendable () -> Int32)?
}

/// Results of merging that are not final yet.
struct MergeNotes {
  /// An event of which other lineages may contain versions.
  struct ContestedEvent {
    let identity: Int64
    let time: Int64
    let lineage: Int64
    /// Whether its lineage contains several different versions.
    let isConflict: Bool

    init(_ event: Event, isConflict: Bool = false) {
      (identity, time) = (event.identity, event.time.milliseconds)
      (lineage, self.isConflict) = (event.lineage, isConflict)
    }
  }

  var claims: [IdentityIndex.Claim] = []
  var contested: [ContestedEvent] = []
  /// Results of the other events.
  var results = DeliveredResults()

  var count: Int { claims.count + contested.count + results.count }

  static func += (left: inout MergeNotes, right: MergeNotes) {
    left.claims += right.claims
    left.contested += right.contested
    right.results.forEach { left.results.add($0, $1) }
  }
}

/// Merges delivered events into the versions of one lineage.
///
/// Copies of one version agree in all material fields; the last one counts, and earlier ones stay
/// when a run has published them. Versions of one event have the same identity, transaction, time
/// and kind; an equal identity alone is a collision of fingerprints, and then both events count. A
/// lineage keeps the last `Event.versionsMax` versions of an event, and those that a published run
/// used.
struct LineageMerge {
  /// The versions by time, identity and version.
  private(set) var records: [EventRecord] = []
  private(set) var isChanged = false
  /// Results of all merged events since the notes were last taken.
  var notes = MergeNotes()
  /// The last `records` with the same time and identity; empty if there is only one.
  private var rivals: [VersionCandidate] = []
  /// Whether the version that counts must be selected, and whether their contents differ.
  private var (isContested, isConflict) = (false, false)
  private var stored: [EventRecord] = []
  private var next = 0
  /// Copies of contents, for the first `settled` records, whose delivered bytes are gone.
  private var kept: [KeptContents] = []
  private var settled = 0
  /// The lineage whose events are merged; none before the first.
  private var lineage = LineageHead()
  let rules: MergeRules

  init(_ rules: MergeRules) { self.rules = rules }

  /// Merges delivered with stored events, whose `bytes` stay valid until the lineage is written.
  mutating func merge(
    _ parts: DeliveredParts, of lineage: LineageHead, stored bytes: UnsafeRawBufferPointer
  ) throws {
    self.lineage = lineage
    records.removeAll(keepingCapacity: true)
    stored.removeAll(keepingCapacity: true)
    isChanged = false
    (next, settled) = (0, 0)
    kept.removeAll()
    if !bytes.isEmpty { try EventRecords.forEach(in: bytes) { stored.append($0) } }
    try parts { events, isLast in
      if let stop = rules.stop { try SubledgerError.check(stop) }
      for event in events {
        let result = try add(event)
        if result == .new {
          notes.claims.append(
            IdentityIndex.Claim(
              identity: event.identity, lineage: lineage.key, number: event.version))
        } else {
          notes.results.add(event.version, result)
        }
      }
      if !isLast { keepContents() }
    }
    if !rivals.isEmpty { select() }
    // The stored versions after the last delivered event.
    records += stored[next...]
  }

  /// Copies the contents of the records; the versions of the last event can still change.
  private mutating func keepContents() {
    guard let last = records.last else { return }
    kept.append(KeptContents(of: &records[settled...]))
    settled = records.lastIndex { $0.precedes(last) }.map { $0 + 1 } ?? 0
  }

  /// Adds a delivered event; events are passed by time and identity, copies in order of arrival.
  @inline(__always)
  private mutating func add(_ record: EventRecord) throws -> UpsertResult {
    if let rival = rivals.last?.version.event,
      rival.identity != record.identity || rival.time.milliseconds != record.time
    {
      select()
    }
    while next < stored.count, !record.precedes(stored[next]) {
      records.append(stored[next])
      next += 1
    }
    guard let last = records.last, last.identity == record.identity, last.time == record.time
    else {
      records.append(record)
      records[records.count - 1].version = 0
      isChanged = true
      return .new
    }
    return try compare(record)
  }

  /// Compares an event with the last records, which have the same time and identity.
  private mutating func compare(_ record: EventRecord) throws -> UpsertResult {
    if rivals.isEmpty {
      let first = records.lastIndex { $0.precedes(record) }.map { $0 + 1 } ?? 0
      rivals = try records[first...].map(candidate)
    }
    let added = try candidate(record)
    var hasVersion = false
    for index in rivals.indices.reversed() {
      let known = rivals[index]
      let mayBeCopy = known.materialHash == added.materialHash
      guard mayBeCopy || !hasVersion, known.version.isVersion(of: added.version) else { continue }
      hasVersion = true
      guard mayBeCopy, known.material == added.material else { continue }
      if known.recency < added.recency { supersede(index, with: added, record) }
      return known.version.event.body == added.version.event.body ? .exact : .semantic
    }
    append(added, record)
    guard hasVersion else { return .new }
    (isContested, isConflict) = (true, true)
    if rivals.count >= 2 * Event.versionsMax { dropEarliest(like: added.version) }
    return .conflict
  }

  private func candidate(_ record: EventRecord) throws -> VersionCandidate {
    VersionCandidate(
      try EventVersion(record, of: lineage.scope),
      original: String(decoding: lineage.original, as: UTF8.self), words: rules.words)
  }

  private mutating func append(_ rival: VersionCandidate, _ record: EventRecord) {
    var record = record
    record.version = (records.last?.version ?? -1) + 1
    records.append(record)
    rivals.append(rival)
    isChanged = true
  }

  /// Keeps the later of two copies of one version.
  ///
  /// The earlier one also stays when a published run used it, so that the run can be reproduced.
  private mutating func supersede(
    _ rival: Int, with added: VersionCandidate, _ record: EventRecord
  ) {
    let index = records.count - rivals.count + rival
    var later = record
    later.counts = records[index].counts
    let isAlone = rivals.count == 1 && records[index].version == 0
    isContested = isContested || rules.areInConflict || !isAlone
    if isPublished(rivals[rival]) {
      records[index].counts = false
      append(added, later)
    } else {
      later.version = records[index].version
      records[index] = later
      rivals[rival] = added
      isChanged = true
    }
  }

  private func isPublished(_ rival: VersionCandidate) -> Bool {
    rival.version.event.place.archive <= rules.published
  }

  /// Drops the earliest versions of an event with too many, except the last one and those that a
  /// published run used.
  ///
  /// Runs whenever there are too many, so that each new version is compared with a few only.
  private mutating func dropEarliest(like version: EventVersion) {
    let versions = rivals.indices.filter { rivals[$0].version.isVersion(of: version) }
      .sorted { rivals[$1].isLater(than: rivals[$0]) }
    let dropped = versions.dropLast().filter { !isPublished(rivals[$0]) }
      .prefix(max(0, versions.count - Event.versionsMax))
    for index in dropped.sorted(by: >) {
      records.remove(at: records.count - rivals.count + index)
      rivals.remove(at: index)
    }
  }

  /// Makes the last version of each event among the rivals count, when all rivals are known.
  private mutating func select() {
    defer {
      rivals.removeAll(keepingCapacity: true)
      (isContested, isConflict) = (false, false)
    }
    guard isContested, let event = rivals.first?.version.event else { return }
    for rival in rivals where rivals.count > Event.versionsMax {
      dropEarliest(like: rival.version)
    }
    if rivals.count > 1 {
      var election = VersionElection()
      for rival in rivals { election.add(rival) }
      let first = records.count - rivals.count
      for (index, rival) in rivals.enumerated() {
        records[first + index].counts = !election.isSuperseded(rival.version.event)
      }
    }
    guard isConflict || rules.areInConflict else { return }
    notes.contested.append(MergeNotes.ContestedEvent(event, isConflict: isConflict))
  }
}

extension EventRecord {
  /// Whether it precedes a version of another event.
  @inline(__always)
  func precedes(_ other: EventRecord) -> Bool {
    time != other.time ? time < other.time : identity < other.identity
  }
}

extension Event {
  /// Whether events with one transaction are one, and do not just share a fingerprint by chance.
  func isVersion(of other: Event) -> Bool {
    identity == other.identity && time == other.time && kind == other.kind
      && (kind != .other || name == other.name)
  }
}
