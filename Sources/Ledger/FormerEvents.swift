internal import GRDB
public import Vocabulary

/// A lineage as it was when fewer archives were known.
public struct FormerLineage: Sendable, Equatable {
  /// The lineage with the user that it had then.
  public var row: LineageRow
  /// The events that counted then, by time and identity.
  public var events: [Event]

  /// The lineage `row` with the events that counted.
  public init(row: LineageRow, events: [Event]) {
    self.row = row
    self.events = events
  }
}

extension Ledger {
  /// A lineage as the archives up to `archive` told it; nil when they did not know it.
  ///
  /// Versions keep the archive that brought them, so what counted then is found again: the last of
  /// an event's versions in those archives, by the order that decides among all of them.
  public func lineage(
    _ key: Int64, knownBy archive: Int32
  ) throws(LedgerError) -> FormerLineage? {
    guard var row = try lineage(key) else { return nil }
    let events = try access("read a lineage as it was") { database in
      try FormerVersions(database, words: symbols.words, archive: archive).events(of: row)
    }
    guard !events.isEmpty else { return nil }
    row.user = events.last { $0.user != 0 }?.user ?? 0
    row.userText = row.user == 0 ? "" : try userText(row.user) ?? ""
    return FormerLineage(row: row, events: events)
  }
}

/// Finds which versions counted when only the archives up to one were known.
private struct FormerVersions {
  private let archive: Int32
  private let stored: StoredVersions
  private let order: VersionOrder

  init(_ database: Database, words: [String], archive: Int32) throws {
    self.archive = archive
    stored = try StoredVersions(database)
    order = try VersionOrder(database, words: words)
  }

  func events(of lineage: LineageRow) throws -> [Event] {
    var known: [StoredVersion] = []
    var isAsNow = true
    try stored.withEvents(of: lineage.key) { bytes, shop in
      try EventRecords.forEach(in: bytes) { record in
        let version = try StoredVersion(record, of: lineage.key, shop)
        if version.event.place.archive <= archive {
          known.append(version)
          isAsNow = isAsNow && version.isStanding
        } else {
          isAsNow = false
        }
      }
    }
    if isAsNow { return known.map(\.event) }
    var events: [Event] = []
    for version in known where try isLast(version, among: known) { events.append(version.event) }
    return events
  }

  /// Whether no other version of the event, in whatever lineage, was later.
  private func isLast(_ version: StoredVersion, among known: [StoredVersion]) throws -> Bool {
    var rivals = known.filter { $0.isVersion(of: version) }
    let places = try stored.lineages(of: version.event)
      .filter { $0 != version.event.lineage }
    if !places.isEmpty {
      rivals += try stored.versions(like: version, in: places)
        .filter { $0.event.place.archive <= archive }
    }
    for rival in rivals where rival.event != version.event {
      if try order.isLater(rival, than: version) { return false }
    }
    return true
  }
}
