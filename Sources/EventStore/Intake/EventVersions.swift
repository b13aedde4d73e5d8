internal import Domain

/// The rare end of adding events: which version counts of an event that has several.
///
/// It works on lineages that are written, because versions may lie in more than one of them.
struct EventVersions {
  private let stored: StoredVersions
  private let lineages: LineageWriter
  private let order: VersionOrder
  private let database: Connection

  init(_ database: Connection, words: [String], lineages: LineageWriter) throws {
    self.database = database
    self.lineages = lineages
    stored = StoredVersions(database)
    order = VersionOrder(database: database, words: words)
  }

  /// Selects the version that counts, after `lineage` got another version or copy of an identity.
  func selectVersion(_ identity: Int64, in lineage: Int64) throws {
    let versions = try stored.versions(of: identity, in: lineage)
    for (version, here) in versions.byEvent {
      if here.contains(where: { $0.event.material != version.event.material }) {
        try recordConflict(version.event, in: lineage)
      }
      try select(version)
    }
  }

  /// Selects the version of a new identity of `lineage` that a lineage within `keys` may hold, too.
  func selectVersion(
    _ identity: Int64, in lineage: Int64, rivals keys: ClosedRange<Int64>
  ) throws -> UpsertResult {
    var result = UpsertResult.new
    for (version, _) in try stored.versions(of: identity, in: lineage).byEvent {
      let holders = try stored.lineages(
        within: keys, holding: identity, time: version.event.time.milliseconds
      ).filter { $0 != lineage }
      let rivals = try stored.versions(like: version, in: holders)
      guard !rivals.isEmpty else { continue }
      for place in Set(rivals.map(\.event.lineage)).union([lineage]).sorted() {
        try recordConflict(version.event, in: place)
      }
      try select(version)
      result = .conflict
    }
    return result
  }

  /// Selects another version of an event after `version` was removed.
  func reselect(_ version: EventVersion) throws { try select(version, evenAlone: true) }

  /// Whether versions of an event may lie in several lineages.
  func isInConflict(_ version: EventVersion) throws -> Bool {
    try stored.isInConflict(version.event)
  }

  /// Lets exactly one of the versions of an event count: the last one by created, then received,
  /// then content.
  private func select(_ version: EventVersion, evenAlone: Bool = false) throws {
    let places = try stored.lineages(of: version.event)
    let versions = try stored.versions(like: version, in: places)
    guard versions.count > 1 || evenAlone, var winner = versions.first else { return }
    for rival in versions.dropFirst() where try order.isLater(rival, than: winner) {
      winner = rival
    }
    for place in places { try setCurrent(winner, in: place) }
  }

  /// Lets `winner` count, and no other version of its event, in one lineage.
  private func setCurrent(_ winner: EventVersion, in lineage: Int64) throws {
    var records: [EventRecord] = []
    var isChanged = false
    try stored.withEvents(of: lineage) { bytes, shop in
      try EventRecords.forEach(in: bytes) { record in
        var record = record
        if record.isNamed(like: winner.event) {
          let version = try EventVersion(record, of: lineage, shop)
          let counts = version.event == winner.event
          if version.isVersion(of: winner), record.counts != counts {
            record.counts = counts
            isChanged = true
          }
        }
        records.append(record)
      }
      guard isChanged else { return }
      try lineages.renew(lineage, records)
    }
  }

  /// Remembers that a lineage holds a version of an event that has more than one.
  private func recordConflict(_ event: Event, in lineage: Int64) throws {
    try database.run(
      """
      insert into event_conflict (identity, time, lineage) values (?, ?, ?)
      on conflict (identity, time, lineage) do nothing
      """, event.identity, event.time, lineage)
  }
}

extension [EventVersion] {
  /// Versions of one identity by event: one, unless two events share a fingerprint by chance.
  var byEvent: [(first: EventVersion, all: [EventVersion])] {
    var events: [(first: EventVersion, all: [EventVersion])] = []
    for version in self {
      if let known = events.firstIndex(where: { $0.first.isVersion(of: version) }) {
        events[known].all.append(version)
      } else {
        events.append((version, [version]))
      }
    }
    return events
  }
}

/// Which of two versions of an event came last, and so counts.
struct VersionOrder {
  let database: Connection
  let words: [String]

  /// By created, then received, then content; equal copies by the fingerprint of their body.
  func isLater(_ left: EventVersion, than right: EventVersion) throws -> Bool {
    let (one, other) = (Recency(of: left.event), Recency(of: right.event))
    if one.created != other.created { return one.created > other.created }
    if one.received != other.received { return one.received > other.received }
    let (ours, theirs) = (try content(of: left), try content(of: right))
    return ours == theirs ? one.body > other.body : theirs.lexicographicallyPrecedes(ours)
  }

  /// The version's content as text, because numbers of symbols depend on arrival.
  private func content(of version: EventVersion) throws -> [UInt8] {
    let original = try database.first(
      "select original from lineage where key = ?", version.event.lineage
    ) { $0.text(0) }
    return version.event.canonicalContent(words: words, original: original ?? "")
  }
}
