public import Domain

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
  /// Some lineages by key, as they were when the archives up to `archive` were ingested.
  ///
  /// Versions keep the archive that brought them, so what counted then is found again: the last of
  /// an event's versions in those archives, by the order that decides among all of them.
  public func lineages(
    _ keys: Set<Int64>, knownBy archive: Int32
  ) throws(LedgerError) -> [Int64: FormerLineage] {
    try access("read lineages as they were") { database in
      let versions = try FormerVersions(database, words: symbols.words, archive: archive)
      var lineages: [Int64: FormerLineage] = [:]
      for key in keys {
        guard var row = try lineage(key) else { continue }
        let events = try versions.events(of: row)
        guard !events.isEmpty else { continue }
        let user = events.last { $0.user != 0 }?.user ?? 0
        if user != row.user {
          row.user = user
          row.userText = user == 0 ? "" : try userText(user) ?? ""
        }
        lineages[key] = FormerLineage(row: row, events: events)
      }
      return lineages
    }
  }

  /// Looks up the stored ones of `keys`, in order, without the texts of user ids.
  ///
  /// Lineages that fold alone, because ids link their purchases, come with their counted events now
  /// and as of the archives up to `archive`; the ones that are not `touched` are unchanged. The
  /// others come without events. Throws `LedgerError`, and whatever `alone` throws.
  public func forEachLineage(
    of keys: ArraySlice<Int64>, touched: Set<Int64>, knownBy archive: Int32,
    grouped: (LineageRow) -> Void,
    alone: (_ row: LineageRow, _ now: [Event], _ then: [Event]) throws -> Void
  ) throws {
    try visit("read lineages as they were") { database in
      let versions = try FormerVersions(database, words: symbols.words, archive: archive)
      let select = try Statement(
        database, "\(LineageRow.selectWithEvents(userTexts: false)) where l.key = ?")
      for key in keys {
        select.bind(1, key)
        try select.forEachRow { found in
          let row = try LineageRow(found)
          guard row.provider.capabilities.hasStableOriginalID else { return grouped(row) }
          if touched.contains(key) {
            let (now, then) = try versions.events(
              in: found.blob(8), of: key, SubscriptionScope(row))
            try alone(row, now, then)
          } else {
            var events: [Event] = []
            try row.addEvents(of: found, to: &events)
            try alone(row, events, events)
          }
        }
      }
    }
  }
}

/// Finds which versions counted when only the archives up to one were known.
private struct FormerVersions {
  private let archive: Int32
  private let stored: StoredVersions
  private let order: VersionOrder
  /// The lineages that share an event's versions with another lineage.
  private let contested: Set<Int64>

  init(_ database: Connection, words: [String], archive: Int32) throws {
    self.archive = archive
    stored = try StoredVersions(database)
    order = try VersionOrder(database, words: words)
    contested = try stored.contestedLineages()
  }

  func events(of lineage: LineageRow) throws -> [Event] {
    var events: [Event] = []
    try stored.withEvents(of: lineage.key) { bytes, shop in
      events = try self.events(in: bytes, of: lineage.key, shop).then
    }
    return events
  }

  /// The counted events of a lineage, now and then.
  func events(
    in bytes: UnsafeRawBufferPointer, of lineage: Int64, _ shop: SubscriptionScope
  ) throws -> (now: [Event], then: [Event]) {
    var now: [Event] = []
    var known: [(record: EventRecord, event: Event)] = []
    var isAsNow = true
    try EventRecords.forEach(in: bytes) { record in
      let event = try record.event(of: lineage, shop)
      if record.counts { now.append(event) }
      guard event.place.archive <= archive else {
        isAsNow = false
        return
      }
      known.append((record, event))
      isAsNow = isAsNow && record.counts
    }
    var then: [Event] = []
    for index in known.indices where try isAsNow || isLast(index, among: known, shop) {
      then.append(known[index].event)
    }
    return (now, then)
  }

  /// Whether no other version of the event, in whatever lineage, was later.
  ///
  /// `known` come by time and identity, so that versions of one event stand side by side.
  private func isLast(
    _ index: Int, among known: [(record: EventRecord, event: Event)], _ shop: SubscriptionScope
  ) throws -> Bool {
    let event = known[index].event
    func isNamesake(_ other: Int) -> Bool {
      known.indices.contains(other) && known[other].record.isNamed(like: event)
    }
    let isContested = contested.contains(event.lineage)
    guard isContested || isNamesake(index - 1) || isNamesake(index + 1) else { return true }
    let version = try EventVersion(known[index].record, of: event.lineage, shop)
    var rivals = try known.filter { $0.record.isNamed(like: event) }
      .map { try EventVersion($0.record, of: event.lineage, shop) }
      .filter { $0.isVersion(of: version) }
    if isContested {
      let places = try stored.lineages(of: event).filter { $0 != event.lineage }
      rivals += try stored.versions(like: version, in: places)
        .filter { $0.event.place.archive <= archive }
    }
    for rival in rivals where rival.event != event {
      if try order.isLater(rival, than: version) { return false }
    }
    return true
  }
}
