internal import Domain

/// Selects the version that counts of an event that several lineages contain: rare, and the last
/// step of a write.
struct EventVersions {
  private let lineages: LineageWriter
  private let words: [String]
  private let database: Connection

  /// Number of events that are settled together; a winner of each is in memory.
  static let eventsMax = 4_096

  init(_ database: Connection, words: [String], lineages: LineageWriter) {
    self.database = database
    self.lineages = lineages
    self.words = words
  }

  /// Records events with several versions in one lineage, which has already selected one, and
  /// selects again among the versions of events that are also in other lineages.
  func settle(_ contested: [MergeNotes.ContestedEvent]) throws {
    for event in contested where event.isConflict {
      try recordConflict(event.identity, event.time, in: event.lineage)
    }
    let shared = try contested.filter {
      try database.holders(of: $0.identity, at: $0.time).count > 1
    }
    try select(versionsOf: shared)
  }

  /// Selects the version that counts of events, in all lineages known to contain versions of them.
  func select(versionsOf events: [MergeNotes.ContestedEvent]) throws {
    for start in stride(from: 0, to: events.count, by: Self.eventsMax) {
      var wanted: [ClosedRange<Int64>: Set<Int64>] = [:]
      for event in events[start..<min(start + Self.eventsMax, events.count)] {
        for lineage in try database.holders(of: event.identity, at: event.time) + [event.lineage] {
          wanted[lineage...lineage, default: []].insert(event.identity)
        }
      }
      try select(wanted)
    }
  }

  /// Selects the version that counts of each event whose identity is wanted in a range of keys.
  @discardableResult
  func select(_ wanted: [ClosedRange<Int64>: Set<Int64>]) throws -> VersionElection {
    var election = VersionElection()
    try database.forEachVersion(of: wanted, words: words) { election.add($0) }
    var winners: [Int64: [Int64: [EventVersion]]] = [:]
    for outcome in election.outcomes.values.joined() {
      let event = outcome.winner.version.event
      for lineage in outcome.lineages {
        winners[lineage, default: [:]][event.identity, default: []].append(outcome.winner.version)
        if outcome.lineages.count > 1 {
          try recordConflict(event.identity, event.time.milliseconds, in: lineage)
          // A version that does not count is counted in the list of charges, too.
          try lineages.touch(lineage)
        }
      }
    }
    for (lineage, winners) in winners.sorted(by: { $0.key < $1.key }) {
      try setCurrent(winners, in: lineage)
    }
    return election
  }

  /// Makes `winners`, by identity, the only versions of their events that count in one lineage.
  private func setCurrent(_ winners: [Int64: [EventVersion]], in lineage: Int64) throws {
    var records: [EventRecord] = []
    var isChanged = false
    try database.forEachRow("\(LineageRow.selectWithEvents) where l.key = ?", lineage) { row in
      let scope = try SubscriptionScope(row)
      try EventRecords.forEach(in: row.blob(LineageRow.eventsColumn)) { record in
        var record = record
        for winner in winners[record.identity] ?? [] {
          let version = try EventVersion(record, of: scope)
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

  /// Records that a lineage contains a version of an event that has more than one.
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
  /// A hash that is equal for equal content, in this process.
  let materialHash: Int
  /// The order of two copies, or versions, of an event: which came last; the body only breaks ties.
  ///
  /// A time that is missing, or impossible, is earlier than any.
  let recency: (created: Int64, received: Int64, body: Int64)
  let original: String
  private let words: [String]
  /// The content as text, because the numbers of symbols depend on arrival.
  private lazy var content = version.event.canonicalContent(words: words, original: original)

  init(_ version: EventVersion, original: String, words: [String]) {
    self.version = version
    self.original = original
    self.words = words
    material = version.event.material
    materialHash = material.hashValue
    let event = version.event
    recency = (
      event.hasImpossibleClock ? .min : event.created?.milliseconds ?? .min,
      event.received?.milliseconds ?? .min, event.body
    )
  }

  /// Whether this version counts instead of `other`: the last by created time, then received time,
  /// then content; equal copies by the fingerprint of their body.
  func isLater(than other: VersionCandidate) -> Bool {
    let (one, two) = (recency, other.recency)
    if one.created != two.created { return one.created > two.created }
    if one.received != two.received { return one.received > two.received }
    let theirs = other.content
    return content == theirs ? one.body > two.body : theirs.lexicographicallyPrecedes(content)
  }
}

/// The selection of the version that counts, for some events, by keeping the last one.
struct VersionElection {
  struct Outcome {
    var winner: VersionCandidate
    /// Lineages that contain a version of the event.
    var lineages: Set<Int64>
  }

  /// Outcomes by identity: one each, unless several events share the identity by chance.
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

  /// Whether an event with this identity is in `lineage` and in another one.
  func isShared(_ identity: Int64, by lineage: Int64) -> Bool {
    outcomes[identity]?.contains { $0.lineages.count > 1 && $0.lineages.contains(lineage) } ?? false
  }

  func isSuperseded(_ event: Event) -> Bool {
    guard let outcomes = outcomes[event.identity] else { return false }
    return !outcomes.contains { $0.winner.version.event == event }
  }
}
