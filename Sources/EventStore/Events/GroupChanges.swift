public import Domain

/// Subscriptions that are folded together.
///
/// A Qonversion subscription is its own group. All that another provider reports of one user in one
/// app and environment is one group, because the provider does not report which purchases continue
/// each other; a subscription without user is its own group.
public struct FoldGroup: Sendable, Hashable {
  let provider: Provider
  let app: StringID
  let environment: Environment
  /// The user; 0 for a group of one subscription.
  let user: Int64
  /// The subscription of a group of one; 0 for a user's group.
  let lineage: Int64

  /// Returns the group of a subscription, or its group when its user was `user`.
  public init(of row: LineageRow, user: Int64? = nil) {
    let user = user ?? row.user
    let isAlone = row.provider.capabilities.hasStableOriginalID || user == 0
    (provider, environment) = (row.provider, row.environment)
    // A subscription without app may belong to any app.
    app = row.provider.capabilities.omitsApps && !isAlone ? 0 : row.app
    (self.user, lineage) = isAlone ? (0, row.key) : (user, 0)
  }
}

/// A fold group now and at a checkpoint.
public struct GroupChange: Sendable {
  /// Its current subscriptions.
  public private(set) var rows: [LineageRow] = []
  /// Its events that count now, by time and identity.
  public private(set) var events: [Event] = []
  /// Its events that counted at the checkpoint, by time and identity.
  public private(set) var previousEvents: [Event] = []
  /// Its current and previous subscriptions.
  public private(set) var members: [LineageRow] = []
  /// Its subscriptions at the checkpoint, with their users at that time.
  public private(set) var previousRows: [LineageRow] = []

  mutating func sort() {
    guard members.count > 1 else { return }
    events.sortByTime()
    previousEvents.sortByTime()
  }

  /// Adds a subscription of `unit`; nil for one that is always its own group.
  mutating func add(
    _ row: LineageRow, _ versions: PreviousVersions.Counted, of unit: FoldUnit? = nil
  ) {
    let isMember = unit?.contains(FoldGroup(of: row)) ?? true
    let previous = versions.previousRow(of: row)
    let wasMember = previous.map { unit?.contains(FoldGroup(of: $0)) ?? true } ?? false
    if isMember || wasMember { members.append(row) }
    if isMember {
      rows.append(row)
      // Avoids a copy of the first events.
      events = events.isEmpty ? versions.now : events + versions.now
    }
    if wasMember, let previous {
      previousRows.append(previous)
      previousEvents =
        previousEvents.isEmpty ? versions.previous : previousEvents + versions.previous
    }
  }
}

extension Ledger {
  /// Reads the groups of some subscriptions as they are now and as they were when the archives up
  /// to `archive` were known; subscriptions outside `touched` have not changed.
  ///
  /// A subscription that is always its own group is passed to `body` at once. For the others,
  /// `shared` receives the current and previous groups, for the units of `forEachUnit`.
  public func forEachGroup(
    of lineages: ArraySlice<Int64>, touched: Set<Int64>, knownBy archive: Int32,
    shared: (FoldUnit.Part) -> Void, _ body: (GroupChange) throws -> Void
  ) throws {
    try visit("read subscriptions as they were") { database in
      let previous = try PreviousVersions(database, symbols.words, touched, archive)
      let isLinked = try database.isAny("lineage_link")
      for key in lineages {
        let root = try isLinked ? database.linkRoot(of: key) : nil
        try previous.forEachRow(of: key) { row, versions in
          guard root == nil, row.provider.capabilities.hasStableOriginalID else {
            let group = FoldGroup(of: row)
            shared(FoldUnit.Part(group: group, lineage: key, root: root))
            let then = versions.previousRow(of: row).map { FoldGroup(of: $0) }
            if let then, then != group {
              shared(FoldUnit.Part(group: then, lineage: key, root: root))
            }
            return
          }
          var change = GroupChange()
          change.add(row, versions)
          try body(change)
        }
      }
    }
  }

  /// Reads the groups of units in the same way.
  public func forEachUnit(
    _ units: ArraySlice<FoldUnit>, touched: Set<Int64>, knownBy archive: Int32,
    _ body: (GroupChange) throws -> Void
  ) throws {
    try visit("read groups as they were") { database in
      let previous = try PreviousVersions(database, symbols.words, touched, archive)
      for unit in units {
        var change = GroupChange()
        for key in try unit.members(in: self, database) {
          try previous.forEachRow(of: key) { change.add($0, $1, of: unit) }
        }
        change.sort()
        try body(change)
      }
    }
  }
}

/// Finds which versions counted when only the archives up to one were known.
///
/// Versions keep the archive that contained them, so what counted can be found again: the last of
/// an event's versions in those archives, in the order that decides among all of them.
struct PreviousVersions {
  private let touched: Set<Int64>
  private let archive: Int32
  private let select: Statement
  private let database: Connection
  private let words: [String]
  /// The lineages with a version of an event of which another lineage has a version, too.
  private let contested: Set<Int64>

  /// The events of a subscription that count, and those that counted.
  struct Counted {
    var now: [Event] = []
    var previous: [Event] = []

    /// Returns the subscription with its previous user; nil when it had no events.
    func previousRow(of row: LineageRow) -> LineageRow? {
      guard !previous.isEmpty else { return nil }
      var then = row
      then.user = previous.last { $0.user != 0 }?.user ?? 0
      return then
    }
  }

  init(
    _ database: Connection, _ words: [String], _ touched: Set<Int64>, _ archive: Int32
  ) throws {
    self.touched = touched
    self.archive = archive
    select = try Statement(database, "\(LineageRow.selectWithEvents) where l.key = ?")
    (self.database, self.words) = (database, words)
    contested = try database.lineagesInConflict()
  }

  /// Calls `body` with the subscription of this key, if it is stored.
  func forEachRow(of key: Int64, _ body: (LineageRow, Counted) throws -> Void) throws {
    select.bind(1, key)
    try select.forEachRow { found in
      let row = try LineageRow(found)
      var versions = Counted()
      if touched.contains(key) {
        versions = try counted(in: found.blob(LineageRow.eventsColumn), of: row)
      } else {
        try row.addEvents(of: found, to: &versions.now)
        versions.previous = versions.now
      }
      try body(row, versions)
    }
  }

  private func counted(
    in bytes: UnsafeRawBufferPointer, of row: LineageRow
  ) throws -> Counted {
    var versions = Counted()
    var isAsNow = true
    try EventRecords.forEach(in: bytes) { record in
      let event = try record.event(of: row.scope)
      let isKnown = event.place.archive <= archive
      if record.counts { versions.now.append(event) }
      if isKnown { versions.previous.append(event) }
      isAsNow = isAsNow && isKnown && record.counts
    }
    guard !isAsNow else { return versions }
    var election = VersionElection()
    try database.forEachRival(
      in: bytes, of: row, isContested: contested.contains(row.key), words: words
    ) { if $0.version.event.place.archive <= archive { election.add($0) } }
    versions.previous.removeAll { election.isSuperseded($0) }
    return versions
  }
}
