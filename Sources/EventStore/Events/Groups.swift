public import Domain

extension Ledger {
  /// Calls `body` with every fold group: its lineages and all their counted events.
  ///
  /// Events are in the order of time and identity. `keys` restricts the walk by the key of the
  /// lineage or user, so that several readers can share it. Groups that report the same store
  /// transactions are passed as one if `linked`.
  public func forEachGroup(
    keys: ClosedRange<Int64> = .min ... .max, linked: Bool = false,
    _ body: ([LineageRow], [Event]) throws -> Void
  ) throws {
    try visit("read lineages") { database in
      let isLinked = try linked && database.isAny("lineage_link")
      let rest = isLinked ? " and l.key not in (select k.lineage from lineage_link k)" : ""
      let select = isLinked ? LineageRow.selectLinked : LineageRow.selectWithEvents
      func walk(_ groups: String) throws {
        try database.forEachGroup(
          "\(select) where \(groups)", keys: keys, isLinked: isLinked, body)
      }
      try walk(
        """
        l.key between ? and ? and (l.provider in (\(Provider.linking)) or l.user = 0)\(rest)
        order by l.key
        """)
      try walk(
        """
        l.user between ? and ? and l.user <> 0 and l.provider not in (\(Provider.linking))\(rest)
        order by l.user, l.provider, l.app, l.environment, l.key
        """)
      if isLinked { try walk("k.root between ? and ? order by k.root, l.key") }
    }
  }

  /// Returns the lineages that are folded together with `lineage`, including itself, by key.
  public func group(of lineage: LineageRow) throws(SubledgerError) -> [LineageRow] {
    let group = FoldGroup(of: lineage)
    return group.user == 0 ? [lineage] : try lineages(in: group)
  }

  /// Returns the lineages of a user's group, by key; empty for a group without user.
  func lineages(in group: FoldGroup) throws(SubledgerError) -> [LineageRow] {
    try lineages(ofUser: group.user, provider: group.provider).filter { FoldGroup(of: $0) == group }
  }
}

extension Connection {
  /// Walks over groups, whose lineages follow each other in the rows of `sql`.
  func forEachGroup(
    _ sql: String, keys: ClosedRange<Int64>, isLinked: Bool,
    _ body: ([LineageRow], [Event]) throws -> Void
  ) throws {
    var group: [LineageRow] = []
    var root: Int64 = 0
    var events: [Event] = []
    func finish() throws {
      if group.count > 1 { events.sortByTime() }
      if !events.isEmpty { try body(group, events) }
      group.removeAll(keepingCapacity: true)
      events.removeAll(keepingCapacity: true)
    }
    try forEachRow(sql, keys.lowerBound, keys.upperBound) { row in
      let lineage = try LineageRow(row)
      let own = isLinked ? row.int64(LineageRow.eventsColumn + 1) : 0
      if let first = group.first,
        own != root || own == 0 && FoldGroup(of: first) != FoldGroup(of: lineage)
      {
        try finish()
      }
      root = own
      group.append(lineage)
      try lineage.addEvents(of: row, to: &events)
    }
    try finish()
  }
}

extension Provider {
  /// The numbers of providers whose lineages are folded alone, as a list in SQL.
  static let linking = allCases.filter(\.capabilities.hasStableOriginalID).map { "\($0.rawValue)" }
    .joined(separator: ", ")
}

extension LineageRow {
  private static let columns = """
    l.key, l.provider, l.app, l.environment, l.store, l.original, l.user, l.versions > l.counted,
      l.compared
    """
  static let eventsColumn: Int32 = 9

  static let select = "select \(columns) from lineage l"
  static let selectWithEvents = "select \(columns), l.events from lineage l"

  /// Selects the events and the root, 0 for none.
  static let selectLinked = """
    select \(columns), l.events, coalesce(k.root, 0)
    from lineage l left join lineage_link k on k.lineage = l.key
    """

  /// Selects the lineages of a user and a provider, by key; built once for all users.
  static let selectOfUser =
    selectWithEvents
    + " where l.user = ? and l.user <> 0 and l.provider = ? and l.key >= ? order by l.key limit ?"

  /// Adds the counted events of a row of `selectWithEvents`, by time and identity.
  func addEvents(of row: Statement, to events: inout [Event]) throws {
    let beginning = scope.emptyEvent
    let records = row.blob(Self.eventsColumn)
    if records.count > 1 << 16 || events.count > 1 << 14 {
      // A growing array is in memory twice, and doubles; a large one is grown by an eighth instead.
      var count = events.count
      try EventRecords.forEach(in: records) { count += $0.counts ? 1 : 0 }
      if count > events.capacity { events.reserveCapacity(max(count, events.count / 8 * 9)) }
    }
    try EventRecords.forEach(in: records) { record in
      guard record.counts else { return }
      // An event is decoded in its place in the array: moving one takes as long as decoding it.
      events.append(beginning)
      try record.complete(&events[events.count - 1])
    }
  }
}

extension [Event] {
  /// Sorts by time, then identity.
  public mutating func sortByTime() {
    sort { ($0.time, $0.identity) < ($1.time, $1.identity) }
  }
}
