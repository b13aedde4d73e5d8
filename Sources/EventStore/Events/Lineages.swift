public import Domain

/// A subscription from its first to its last period, without its events.
public struct LineageRow: Sendable, Equatable {
  let scope: SubscriptionScope
  /// Original transaction id; one that is built from the user's id contains the user's key instead.
  public let original: String
  /// Fingerprint of the user id of the newest counted event that has one; 0 when unknown.
  public var user: Int64
  /// Whether it contains versions that do not count.
  let hasSuperseded: Bool
  /// Whether webhooks of its events contain entitlements that the events do not explain, or name
  /// an earlier user.
  let isCompared: Bool

  /// `lineageKey` of the original id and of the fields below.
  public var key: Int64 { scope.lineage }
  /// The provider that reported it.
  public var provider: Provider { scope.provider }
  /// App id, as the ledger's symbol.
  public var app: StringID { scope.app }
  /// Production or sandbox.
  public var environment: Environment { scope.environment }
  /// The store that sells the product.
  public var store: Store { scope.store }

  /// Whether the original id is built from the user's id, with a character of no store's ids.
  var isMadeOfUser: Bool {
    user != 0
      && original.utf8.contains { $0 == UInt8(ascii: "|") || $0 == UInt8(ascii: ":") }
      && original.contains(user.userKeyText)
  }
}

extension Ledger {
  /// Calls `body` with every lineage, by key, with its counted events by time and identity.
  ///
  /// Versions that another one superseded are left out. `keys` restricts the walk, so that several
  /// readers can share it. The array is refilled each time; a body that keeps it causes a copy.
  public func forEachLineage(
    keys: ClosedRange<Int64> = .min ... .max, _ body: (LineageRow, [Event]) throws -> Void
  ) throws {
    try visit("read lineages") { database in
      var events: [Event] = []
      try database.forEachRow(
        "\(LineageRow.selectWithEvents) where l.key between ? and ? order by l.key",
        keys.lowerBound, keys.upperBound
      ) { row in
        let lineage = try LineageRow(row)
        events.removeAll(keepingCapacity: true)
        try lineage.addEvents(of: row, to: &events)
        if !events.isEmpty { try body(lineage, events) }
      }
    }
  }

  /// Returns the lineages of a user, by key; `user` is the fingerprint of the user id.
  public func lineages(
    ofUser user: Int64, provider: Provider
  ) throws(SubledgerError) -> [LineageRow] {
    try all(
      "read the lineages of a user",
      "\(LineageRow.select) where l.user = ? and l.user <> 0 and l.provider = ? order by l.key",
      user, provider
    ) { try LineageRow($0) }
  }

  /// Returns a user's lineages from a key on, at most `max`, or all for -1, each with its counted
  /// events by time and identity.
  public func lineagesWithEvents(
    ofUser user: Int64, provider: Provider, from key: Int64, max: Int64
  ) throws(SubledgerError) -> [(row: LineageRow, events: [Event])] {
    let sql = LineageRow.selectOfUser
    return try all("read the lineages of a user", sql, user, provider, key, max) {
      let row = try LineageRow($0)
      var events: [Event] = []
      try row.addEvents(of: $0, to: &events)
      return (row, events)
    }
  }

  /// Returns a filter with the keys of all lineages.
  public func lineageFilter() throws(SubledgerError) -> KeyFilter {
    try access("read the keys of lineages") { database in
      var filter = KeyFilter(count: Int(try database.count("lineage")))
      try database.forEachRow("select key from lineage") { filter.insert($0.int64(0)) }
      return filter
    }
  }

  /// Returns the lineage with this key.
  public func lineage(_ key: Int64) throws(SubledgerError) -> LineageRow? {
    try first("read a lineage", "\(LineageRow.select) where l.key = ?", key) { try LineageRow($0) }
  }

  /// Calls `body` with each lineage of the sandbox, by key.
  public func forEachSandboxLineage(_ body: (LineageRow) throws -> Void) throws {
    try visit("read lineages of the sandbox") { database in
      try database.forEachRow(
        "\(LineageRow.select) where l.environment = \(Environment.sandbox.rawValue) order by l.key"
      ) { try body(LineageRow($0)) }
    }
  }

  /// Returns the lineage that differs only in its environment.
  public func counterpart(of lineage: LineageRow) throws(SubledgerError) -> LineageRow? {
    try self.lineage(
      lineageKey(
        provider: lineage.provider, app: symbols.words[Int(lineage.app)],
        environment: lineage.environment == .sandbox ? .production : .sandbox,
        store: lineage.store, original: lineage.original))
  }

  /// Returns the counted events of some lineages, by time and identity.
  public func events(of lineages: [LineageRow]) throws(SubledgerError) -> [Event] {
    try access("read the events of a lineage") { database in
      var events: [Event] = []
      for row in lineages {
        try database.forEachRow("\(LineageRow.selectWithEvents) where l.key = ?", row.key) {
          try row.addEvents(of: $0, to: &events)
        }
      }
      if lineages.count > 1 { events.sortByTime() }
      return events
    }
  }
}

extension Connection {
  /// Calls `body` with every version of a lineage's events, by time, identity and version.
  func forEachRecord(of lineage: Int64, _ body: (EventRecord) throws -> Void) throws {
    try forEachRow("select events from lineage where key = ?", lineage) {
      try EventRecords.forEach(in: $0.blob(0), body)
    }
  }
}

extension LineageRow {
  init(_ row: Statement) throws(SubledgerError) {
    self.init(
      scope: try SubscriptionScope(row), original: row.text(5), user: row.int64(6),
      hasSuperseded: row.int64(7) != 0, isCompared: row.int64(8) > 0)
  }
}

/// The fields that all events of a lineage share.
struct SubscriptionScope: Codable, Sendable, Equatable {
  /// Its key.
  var lineage: Int64 = 0
  var provider = Provider.qonversion
  var app: StringID = 0
  var environment = Environment.production
  var store = Store.unknown
}

extension SubscriptionScope {
  init(of event: Event) {
    self.init(
      lineage: event.lineage, provider: event.provider, app: event.app,
      environment: event.environment, store: event.store)
  }

  /// An event with the fields of the lineage, and no others.
  var emptyEvent: Event {
    var event = Event(
      provider: provider, environment: environment, store: store, kind: .other,
      time: Instant(milliseconds: 0))
    event.app = app
    event.lineage = lineage
    return event
  }

  /// Reads the first columns of a row: key, provider, app, environment and store.
  init(_ row: Statement) throws(SubledgerError) {
    self.init(
      lineage: row.int64(0), provider: try row.value(1), app: try row.symbol(2),
      environment: try row.value(3), store: try row.value(4))
  }

  /// Passes all fields except the key.
  mutating func code<Coder: FieldCoder>(by coder: inout Coder) {
    coder.code(&provider)
    coder.code(&app)
    coder.code(&environment)
    coder.code(&store)
  }
}
