public import Domain

/// When a lineage is to be folded again.
public struct DueLineage: Codable, Sendable, Equatable {
  /// Key of the lineage, one of its fold group.
  public var lineage: Int64
  /// Time from which folding may give another result.
  public var deadline: Instant

  /// Creates a row for a lineage that is due at `deadline`.
  public init(lineage: Int64, deadline: Instant) {
    self.lineage = lineage
    self.deadline = deadline
  }
}

/// Hours of the table `due`.
enum DueHour {
  /// Before any hour: new input arrived.
  static let atOnce: Int64 = -1 << 40

  /// Returns the UTC hour that contains an instant or ends at it.
  static func of(_ instant: Instant) -> Int64 {
    let (whole, rest) = instant.milliseconds.quotientAndRemainder(
      dividingBy: Interval.hours(1).milliseconds)
    return rest > 0 ? whole : whole - 1
  }
}

extension Ledger {
  /// Returns the lineages that are due at `asOf`, and those of them with new input, by key.
  public func dirtyLineages(
    asOf: Instant
  ) throws(SubledgerError) -> (all: [Int64], touched: Set<Int64>) {
    try access("read due lineages") { database in
      var (all, touched): (Set<Int64>, Set<Int64>) = ([], [])
      try database.forEachRow(
        "select hour, lineage from due where hour <= ?", DueHour.of(asOf)
      ) { row in
        all.insert(row.int64(1))
        if row.int64(0) == DueHour.atOnce { touched.insert(row.int64(1)) }
      }
      return (all.sorted(), touched)
    }
  }

  /// Removes rows that were due at `asOf`, and stores when `lineages` are due next.
  func write(_ lineages: [DueLineage], after asOf: Instant, to database: Connection) throws {
    try database.run("delete from due where hour <= ?", DueHour.of(asOf))
    let insert = try database.statement(
      "insert into due (hour, lineage) values (?, ?) on conflict do nothing")
    let rows = lineages.map { (hour: DueHour.of($0.deadline), lineage: $0.lineage) }
    for row in rows.sorted(by: { ($0.hour, $0.lineage) < ($1.hour, $1.lineage) }) {
      try insert.run(row.hour, row.lineage)
    }
  }
}
