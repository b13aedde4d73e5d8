internal import GRDB
internal import Vocabulary

/// The rare half of adding events: what is known already, and what contradicts it.
///
/// Versions of one event have the same identity, transaction, time and kind; an equal identity
/// alone is a collision of fingerprints, and then both events count.
struct EventVersions {
  private let words: [String]
  private let lineages: LineageWriter
  private let database: Database
  private let stored: StoredVersions
  private let insertion: RawStatement

  init(_ database: Database, words: [String], lineages: LineageWriter) throws {
    self.database = database
    self.words = words
    self.lineages = lineages
    stored = try StoredVersions(database)
    insertion = try RawStatement(cachedIn: database, EventColumns.insert)
  }

  /// Settles an event whose lineage, time and identity are taken.
  ///
  /// Lineages whose user may have changed are put into `stale`.
  func settle(
    _ event: Event, transaction: UnsafeRawBufferPointer, stale: inout Set<Int64>
  ) throws -> EventFate {
    let known = try stored.inLineage(of: event)
    let text = String(decoding: transaction, as: UTF8.self)
    let versions = known.filter { $0.isVersion(of: event, transaction: text) }
    if let same = versions.first(where: { $0.event.material == event.material }) {
      return try renew(same, with: event, transaction: transaction, stale: &stale)
    }
    EventColumns.bind(
      event, version: (known.map(\.version).max() ?? -1) + 1, standing: true,
      content: EventCoding.content(of: event, transaction: transaction), to: insertion)
    try insertion.run()
    stale.insert(event.lineage)
    guard !versions.isEmpty else { return .new }
    try contest(event)
    try elect(event, transaction: text, stale: &stale)
    return .conflict
  }

  /// Settles a new event whose identity was claimed before, mostly by another lineage.
  func contest(
    _ event: Event, transaction: UnsafeRawBufferPointer, stale: inout Set<Int64>
  ) throws -> EventFate {
    try contest(event)
    let text = String(decoding: transaction, as: UTF8.self)
    let others = try stored.everywhere(event).filter {
      $0.event.lineage != event.lineage && $0.isVersion(of: event, transaction: text)
    }
    guard !others.isEmpty else { return .new }
    stale.insert(event.lineage)
    try elect(event, transaction: text, stale: &stale)
    return .conflict
  }

  /// Keeps of two copies of one version what only the later one says.
  private func renew(
    _ version: StoredVersion, with event: Event, transaction: UnsafeRawBufferPointer,
    stale: inout Set<Int64>
  ) throws -> EventFate {
    let fate: EventFate = version.event.body == event.body ? .exact : .semantic
    guard Recency(of: version.event) < Recency(of: event) else { return fate }
    let statement = try RawStatement(
      cachedIn: database,
      """
      update event set user = ?5, content = ?6
      where lineage = ?1 and time = ?2 and identity = ?3 and version = ?4
      """)
    bind(version, to: statement)
    statement.bind(5, event.user)
    statement.bind(6, blob: EventCoding.content(of: event, transaction: transaction))
    try statement.run()
    if version.event.user != event.user { stale.insert(event.lineage) }
    try elect(event, transaction: version.transaction, stale: &stale)
    return fate
  }

  /// Lets exactly one of the versions of an event count: the last one by created, then received,
  /// then content.
  private func elect(_ event: Event, transaction: String, stale: inout Set<Int64>) throws {
    let versions = try stored.everywhere(event).filter {
      $0.isVersion(of: event, transaction: transaction)
    }
    guard versions.count > 1 else { return }
    var winner = 0
    for index in versions.indices.dropFirst()
    where try isLater(versions[index], than: versions[winner]) {
      winner = index
    }
    for (index, version) in versions.enumerated()
    where version.isStanding != (index == winner) {
      let statement = try RawStatement(
        cachedIn: database,
        """
        update event set standing = ?5
        where lineage = ?1 and time = ?2 and identity = ?3 and version = ?4
        """)
      bind(version, to: statement)
      statement.bind(5, Int64(index == winner ? 1 : 0))
      try statement.run()
      stale.insert(version.event.lineage)
    }
  }

  private func isLater(_ left: StoredVersion, than right: StoredVersion) throws -> Bool {
    let (one, other) = (Recency(of: left.event), Recency(of: right.event))
    if one.created != other.created { return one.created > other.created }
    if one.received != other.received { return one.received > other.received }
    return try content(other: right).lexicographicallyPrecedes(content(other: left))
  }

  /// What the version says, in words rather than symbols, whose numbers depend on arrival.
  private func content(other version: StoredVersion) throws -> [UInt8] {
    let statement = try RawStatement(
      cachedIn: database, "select original from lineage where key = ?")
    statement.bind(1, version.event.lineage)
    let original = try statement.first { $0.text(0) } ?? ""
    return version.event.canonicalContent(words: words, original: original)
  }

  /// Remembers that the identity may have versions in more than one place.
  private func contest(_ event: Event) throws {
    let statement = try RawStatement(
      cachedIn: database,
      """
      insert into contested (identity, time, lineage) values (?1, ?2, ?3)
      on conflict (identity, time, lineage) do nothing
      """)
    statement.bind(1, event.identity)
    statement.bind(2, event.time.milliseconds)
    statement.bind(3, event.lineage)
    try statement.run()
  }

  private func bind(_ version: StoredVersion, to statement: RawStatement) {
    statement.bind(1, version.event.lineage)
    statement.bind(2, version.event.time.milliseconds)
    statement.bind(3, version.event.identity)
    statement.bind(4, version.version)
  }
}
