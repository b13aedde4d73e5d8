public import Domain

/// A user whose snapshot can be requested from a provider.
public struct FetchSubject: Sendable, Hashable {
  /// The key of the user.
  public var user: Int64
  /// The app's symbol, if the request contains it; else 0.
  public var app: StringID

  /// Creates the subject `user` in `app`.
  public init(user: Int64, app: StringID = 0) {
    self.user = user
    self.app = app
  }
}

/// The users of whom a snapshot is requested.
public enum FetchScope: Sendable {
  /// All users with events or snapshots.
  case all
  /// Users with an event that happened or arrived at this time or later.
  case since(Instant)
  /// Users with an event in an archive that was read after their newest snapshot.
  case new
}

extension Ledger {
  /// Returns the id of a user; nil if the user was erased, or is unknown to the ledger.
  public func unerasedID(of user: Int64) throws(SubledgerError) -> String? {
    try access("read a user") {
      try UserKeys($0).holder(of: user) { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// Returns the users of `provider` in `scope`, by key; without those in the sandbox.
  ///
  /// - Parameter byApp: whether the request contains the app.
  public func fetchSubjects(
    of provider: Provider, byApp: Bool, _ scope: FetchScope
  ) throws -> [FetchSubject] {
    var subjects: Set<FetchSubject> = []
    try visit("read users") { database in
      let snapshots = try database.all(
        """
        select s.user, s.app, max(case when a.kind = 'snapshots' then s.archive else 0 end)
        from snapshot s join archive a on a.id = s.archive
        where s.provider = ? group by s.user, s.app
        """, provider
      ) {
        (
          subject: FetchSubject(user: $0.int64(0), app: byApp ? try $0.symbol(1) : 0),
          archive: $0.int64(2)
        )
      }
      if case .all = scope { subjects = Set(snapshots.map(\.subject)) }
      let newest = Dictionary(snapshots.map { ($0.subject, $0.archive) }, uniquingKeysWith: max)
      try database.forEachRow(
        """
        \(LineageRow.selectWithEvents)
        where l.provider = ? and l.user <> 0
          and l.environment = \(Environment.production.rawValue)
        """, provider
      ) { row in
        let lineage = try LineageRow(row)
        let subject = FetchSubject(user: lineage.user, app: byApp ? lineage.app : 0)
        guard !subjects.contains(subject) else { return }
        let begun = newest[subject] ?? 0
        func hasEvent(_ condition: (Event) -> Bool) throws -> Bool {
          var events: [Event] = []
          try lineage.addEvents(of: row, to: &events)
          return events.contains(where: condition)
        }
        let isWanted =
          switch scope {
          case .all: true
          case .since(let time):
            try hasEvent { $0.time >= time || $0.received.map { $0 >= time } ?? false }
          case .new: try begun == 0 || hasEvent { $0.place.archive > begun }
          }
        if isWanted { subjects.insert(subject) }
      }
    }
    return subjects.sorted { ($0.user, $0.app) < ($1.user, $1.app) }
  }
}
