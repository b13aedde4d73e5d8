internal import Domain

/// The rare end of adding events: which version counts of an event that several lineages hold.
struct EventVersions {
  let stored: StoredVersions
  private let lineages: LineageWriter
  private let words: [String]
  private let database: Connection

  /// Events that are settled together: of each, a winner is in memory.
  static let eventsMax = 4_096

  init(_ database: Connection, words: [String], lineages: LineageWriter) {
    self.database = database
    self.lineages = lineages
    self.words = words
    stored = StoredVersions(database)
  }

  /// Remembers which events have several versions in one lineage, which has selected among them,
  /// and selects again among those that other lineages hold, too.
  func settle(_ doubts: [MergeNotes.Doubt]) throws {
    for doubt in doubts where doubt.isConflict {
      try recordConflict(doubt.identity, doubt.time, in: doubt.lineage)
    }
    let shared = try doubts.filter { try stored.holders(of: $0.identity, at: $0.time).count > 1 }
    try select(versionsOf: shared)
  }

  /// Selects the version that counts of events, wherever versions of them are known to lie.
  func select(versionsOf events: [MergeNotes.Doubt]) throws {
    for start in stride(from: 0, to: events.count, by: Self.eventsMax) {
      var wanted: [ClosedRange<Int64>: Set<Int64>] = [:]
      for event in events[start..<min(start + Self.eventsMax, events.count)] {
        for lineage in try stored.holders(of: event.identity, at: event.time) + [event.lineage] {
          wanted[lineage...lineage, default: []].insert(event.identity)
        }
      }
      try select(wanted)
    }
  }

  /// Lets exactly one version count of each event with one of the identities that are wanted of the
  /// lineages in a range of keys.
  @discardableResult
  func select(_ wanted: [ClosedRange<Int64>: Set<Int64>]) throws -> VersionElection {
    var election = VersionElection()
    for (keys, identities) in wanted.sorted(by: { $0.key.lowerBound < $1.key.lowerBound }) {
      try stored.forEachVersion(of: identities, within: keys) { version, original in
        election.add(VersionCandidate(version, original: original, words: words))
      }
    }
    var winners: [Int64: [Int64: [EventVersion]]] = [:]
    for outcome in election.outcomes.values.joined() {
      let event = outcome.winner.version.event
      for lineage in outcome.lineages {
        winners[lineage, default: [:]][event.identity, default: []].append(outcome.winner.version)
        if outcome.lineages.count > 1 {
          try recordConflict(event.identity, event.time.milliseconds, in: lineage)
        }
      }
    }
    for (lineage, winners) in winners.sorted(by: { $0.key < $1.key }) {
      try setCurrent(winners, in: lineage)
    }
    return election
  }

  /// Lets `winners`, by identity, count in one lineage, and no other version of their events.
  private func setCurrent(_ winners: [Int64: [EventVersion]], in lineage: Int64) throws {
    var records: [EventRecord] = []
    var isChanged = false
    try stored.withEvents(of: lineage) { bytes, shop in
      try EventRecords.forEach(in: bytes) { record in
        var record = record
        for winner in winners[record.identity] ?? [] {
          let version = try EventVersion(record, of: lineage, shop)
          let counts = version.event == winner.event
          if version.isVersion(of: winner), record.counts != counts {
            record.counts = counts
            isChanged = true
          }
        }
        records.append(record)
      }
      if isChanged { try lineages.renew(lineage, records) }
    }
  }

  /// Remembers that a lineage holds a version of an event that has more than one.
  private func recordConflict(_ identity: Int64, _ time: Int64, in lineage: Int64) throws {
    try database.run(
      """
      insert into event_conflict (identity, time, lineage) values (?, ?, ?)
      on conflict (identity, time, lineage) do nothing
      """, identity, time, lineage)
  }
}

final class VersionCandidate {
  let version: EventVersion
  let material: Event
  /// Equal for equal content, in this process.
  let materialHash: Int
  let recency: Recency
  private let original: String
  private let words: [String]
  /// As text, because numbers of symbols depend on arrival.
  private lazy var content = version.event.canonicalContent(words: words, original: original)

  init(_ version: EventVersion, original: String, words: [String]) {
    self.version = version
    self.original = original
    self.words = words
    material = version.event.material
    materialHash = material.hashValue
    recency = Recency(of: version.event)
  }

  /// Whether this one counts rather than `other`: the last by created, then received, then content;
  /// equal copies by the fingerprint of their body.
  func isLater(than other: VersionCandidate) -> Bool {
    let (one, two) = (recency, other.recency)
    if one.created != two.created { return one.created > two.created }
    if one.received != two.received { return one.received > two.received }
    let theirs = other.content
    return content == theirs ? one.body > two.body : theirs.lexicographicallyPrecedes(content)
  }
}

/// Which version counts of each of some events, found by keeping the last one.
struct VersionElection {
  struct Outcome {
    var winner: VersionCandidate
    /// Lineages that hold a version of the event.
    var lineages: Set<Int64>
  }

  /// By identity: one, unless several events share it by chance.
  private(set) var outcomes: [Int64: [Outcome]] = [:]

  mutating func add(_ candidate: VersionCandidate) {
    let event = candidate.version.event
    let index = outcomes[event.identity]?.firstIndex {
      $0.winner.version.isVersion(of: candidate.version)
    }
    guard let index else {
      let outcome = Outcome(winner: candidate, lineages: [event.lineage])
      outcomes[event.identity, default: []].append(outcome)
      return
    }
    outcomes[event.identity]?[index].lineages.insert(event.lineage)
    if let winner = outcomes[event.identity]?[index].winner, candidate.isLater(than: winner) {
      outcomes[event.identity]?[index].winner = candidate
    }
  }

  /// Whether an event with this identity lies in `lineage` and in another one.
  func isShared(_ identity: Int64, by lineage: Int64) -> Bool {
    outcomes[identity]?.contains { $0.lineages.count > 1 && $0.lineages.contains(lineage) } ?? false
  }

  func isSuperseded(_ event: Event) -> Bool {
    guard let outcomes = outcomes[event.identity] else { return false }
    return !outcomes.contains { $0.winner.version.event == event }
  }
}
