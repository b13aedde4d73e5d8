internal import GRDB
public import Vocabulary

extension Ledger {
  /// Calls `body` at every fold group with its lineages and all their counted events.
  ///
  /// A Qonversion lineage is a group of its own. What the other providers tell of one user in one
  /// app and environment is one group, for they do not say which purchases continue each other; a
  /// lineage without user is a group of its own. Events come by time and identity. `keys`
  /// restricts the walk by the lineage's key, or the user's, so that several readers can share it.
  /// Throws `LedgerError`, and whatever `body` throws.
  public func forEachGroup(
    keys: ClosedRange<Int64> = .min ... .max, _ body: ([LineageRow], [Event]) throws -> Void
  ) throws {
    try visit("read lineages") { database in
      let alone = "l.provider = \(Provider.qonversion.rawValue) or l.user = 0"
      try database.forEachLineage(where: alone, keys: keys) { try body([$0], $1) }
      try database.forEachUserGroup(keys: keys, body)
    }
  }

  /// The lineages that are folded together with `lineage`, itself among them, by key.
  public func group(of lineage: LineageRow) throws(LedgerError) -> [LineageRow] {
    guard lineage.provider != .qonversion, lineage.user != 0 else { return [lineage] }
    return try lineages(ofUser: lineage.user, provider: lineage.provider)
      .filter { $0.app == lineage.app && $0.environment == lineage.environment }
  }

  /// The counted events of several lineages, by time and identity.
  public func events(of group: [LineageRow]) throws(LedgerError) -> [Event] {
    var events: [Event] = []
    for row in group { events += try self.events(ofLineage: row.key) }
    return group.count > 1 ? events.inTimeOrder : events
  }
}

extension Database {
  /// Walks over the lineages that fulfil `condition` and their events side by side.
  func forEachLineage(
    where condition: String, keys: ClosedRange<Int64>,
    _ body: (LineageRow, [Event]) throws -> Void
  ) throws {
    let lineages = try RawStatement(
      self,
      "\(LineageRow.select) where l.key between ? and ? and (\(condition)) order by l.key")
    let events = try RawStatement(
      self,
      """
      select \(EventColumns.names) from event
      where standing = 1 and lineage between ? and ? order by lineage, time, identity, version
      """)
    for statement in [lineages, events] {
      statement.bind(1, keys.lowerBound)
      statement.bind(2, keys.upperBound)
    }
    defer { events.reset() }
    var hasEvent = try events.step()
    var current: [Event] = []
    try lineages.forEachRow { row in
      let lineage = try LineageRow(row)
      let shop = LineageShop(lineage)
      current.removeAll(keepingCapacity: true)
      while hasEvent, events.int64(0) < lineage.key { hasEvent = try events.step() }
      while hasEvent, events.int64(0) == lineage.key {
        current.append(try EventColumns.read(events, of: shop))
        hasEvent = try events.step()
      }
      if !current.isEmpty { try body(lineage, current) }
    }
  }

  /// Walks over the users whose lineages are folded together.
  func forEachUserGroup(
    keys: ClosedRange<Int64>, _ body: ([LineageRow], [Event]) throws -> Void
  ) throws {
    let lineages = try RawStatement(
      self,
      """
      \(LineageRow.select) where l.user between ? and ? and l.user <> 0
        and l.provider <> \(Provider.qonversion.rawValue)
      order by l.user, l.provider, l.app, l.environment, l.key
      """)
    lineages.bind(1, keys.lowerBound)
    lineages.bind(2, keys.upperBound)
    let events = try RawStatement(
      self,
      """
      select \(EventColumns.names) from event
      where lineage = ? and standing = 1 order by time, identity, version
      """)
    var group: [LineageRow] = []
    var told: [Event] = []
    func finish() throws {
      if !told.isEmpty { try body(group, group.count > 1 ? told.inTimeOrder : told) }
      group.removeAll(keepingCapacity: true)
      told.removeAll(keepingCapacity: true)
    }
    try lineages.forEachRow { row in
      let lineage = try LineageRow(row)
      if let first = group.first, !first.isGrouped(with: lineage) { try finish() }
      group.append(lineage)
      events.bind(1, lineage.key)
      let shop = LineageShop(lineage)
      try events.forEachRow { told.append(try EventColumns.read($0, of: shop)) }
    }
    try finish()
  }
}

extension LineageRow {
  /// Whether the fold reads both lineages together.
  func isGrouped(with other: LineageRow) -> Bool {
    user == other.user && provider == other.provider && app == other.app
      && environment == other.environment
  }
}

extension [Event] {
  /// By time, then identity.
  var inTimeOrder: [Event] {
    sorted { ($0.time, $0.identity) < ($1.time, $1.identity) }
  }
}
