internal import GRDB
public import Vocabulary

/// When a lineage is to be folded again.
public struct DueLineage: Sendable, Equatable {
  /// Key of the lineage, one of its fold group.
  public var lineage: Int64
  /// From when on folding may give something else; nil when only a new event can change it.
  public var deadline: Instant?

  /// A lineage that is due at `deadline`.
  public init(lineage: Int64, deadline: Instant?) {
    self.lineage = lineage
    self.deadline = deadline
  }
}

/// Lineages of which the last fold may no longer hold.
public struct DirtyLineages: Sendable, Equatable {
  /// Something new is told of them.
  public var touched: Set<Int64> = []
  /// A deadline has passed.
  public var overdue: Set<Int64> = []

  /// None.
  public init() {}

  /// All of them, by key.
  public var all: [Int64] { touched.union(overdue).sorted() }
}

/// Days of the table `due`.
enum DueDay {
  /// Before any day: something new is told.
  static let atOnce: Int64 = -1 << 40

  /// The UTC day of an instant.
  static func of(_ instant: Instant) -> Int64 {
    let day: Int64 = 86_400_000
    let milliseconds = instant.milliseconds
    return milliseconds >= 0 ? milliseconds / day : (milliseconds - day + 1) / day
  }
}

extension Ledger {
  /// The lineages that are due at `asOf`.
  public func dirtyLineages(asOf: Instant) throws(LedgerError) -> DirtyLineages {
    try access("read what is due") { database in
      let statement = try RawStatement(
        cachedIn: database, "select day, lineage from due where day <= ?")
      statement.bind(1, DueDay.of(asOf))
      var dirty = DirtyLineages()
      try statement.forEachRow { row in
        if row.int64(0) == DueDay.atOnce {
          dirty.touched.insert(row.int64(1))
        } else {
          dirty.overdue.insert(row.int64(1))
        }
      }
      return dirty
    }
  }

  /// Forgets what was due at `asOf` and keeps when `lineages` are due next.
  func write(_ lineages: [DueLineage], after asOf: Instant?, to database: Database) throws {
    if let asOf {
      let past = try RawStatement(cachedIn: database, "delete from due where day <= ?")
      past.bind(1, DueDay.of(asOf))
      try past.run()
    } else {
      try database.execute(sql: "delete from due")
    }
    let insert = try RawStatement(
      cachedIn: database, "insert into due values (?, ?) on conflict do nothing")
    let rows = lineages.compactMap { due in
      due.deadline.map { (day: DueDay.of($0), lineage: due.lineage) }
    }
    for row in rows.sorted(by: { ($0.day, $0.lineage) < ($1.day, $1.lineage) }) {
      insert.bind(1, row.day)
      insert.bind(2, row.lineage)
      try insert.run()
    }
  }
}
