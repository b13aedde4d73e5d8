public import Domain

/// Revenue of a whole fold that does not fit into memory.
///
/// It lies in a table of the connection's own, in a file of SQLite's that has no name and is gone
/// with the connection. Parts of one cell stand one behind the other there and are added up when
/// all are known.
public final class RevenueSpill {
  private let ledger: Ledger
  private var parts: Int64 = 0

  /// Begins with an empty spill of `ledger`.
  public init(in ledger: Ledger) throws(SubledgerError) {
    self.ledger = ledger
    try ledger.access("spill revenue") { database in
      let columns = try database.columns(in: "revenue_cell")
      try database.execute(
        """
        drop table if exists temp.revenue_spill;
        create temp table revenue_spill (
          \(columns.map { "\($0) integer not null" }.joined(separator: ", ")),
          part integer not null,
          primary key (\(columns[..<Self.keyWidth].joined(separator: ", ")), part)
        ) strict, without rowid
        """)
    }
  }

  private static let keyWidth = 12

  /// Spills the cells of `revenue`.
  public func add(_ revenue: [RevenueKey: RevenueSums]) throws(SubledgerError) {
    parts += 1
    try ledger.change("spill revenue") { database in
      for (_, places) in revenue.placesByMonth {
        try revenue.rows(at: places, table: "revenue_spill").insert(in: database, part: parts)
      }
    }
  }

  // Halves of amounts add up without overflow, and are carried as `PartialSum` does.

  private static func high(_ amount: String) -> String {
    "(sum(\(amount) >> 32) + (sum(\(amount) & 4294967295) >> 32))"
  }

  private static func carries(of amount: String) -> String {
    "((\(high(amount)) + \(1 << 29)) >> 30)"
  }

  private static func rest(of amount: String) -> String {
    "((\(high(amount)) - (\(carries(of: amount)) << 30)) << 32) "
      + "+ (sum(\(amount) & 4294967295) & 4294967295)"
  }

  /// Moves the spilled cells into the empty tables of revenue.
  func insert(in database: Connection) throws {
    let columns = try database.columns(in: "revenue_cell")
    let keys = columns[..<Self.keyWidth].joined(separator: ", ")
    let measures = columns[Self.keyWidth...]
    let sums = measures.map { measure in
      if measures.contains("\(measure)_unknown") { return Self.rest(of: measure) }
      let amount = measure.hasSuffix("_unknown") ? String(measure.dropLast(8)) : nil
      let carries = amount.map { " + \(Self.carries(of: $0)) * \(PartialSum.carry)" } ?? ""
      return "sum(\(measure))\(carries)"
    }
    let isSomething = sums.map { "\($0) <> 0" }.joined(separator: " or ")
    let days = try database.first(
      "select min(day), max(day) from temp.revenue_spill having count(*) > 0"
    ) { ($0.day(0), $0.day(1)) }
    try database.execute(
      """
      insert into revenue_cell select \(keys), \(sums.joined(separator: ", "))
      from temp.revenue_spill group by \(keys) having \(isSomething)
      """)
    if let (first, last) = days {
      let shop = columns[1..<Self.keyWidth].joined(separator: ", ")
      for number in first.month.number...last.month.number {
        let month = Month(number: number)
        try database.run(
          """
          insert into revenue_month_cell select ?1, \(shop), \(sums.joined(separator: ", "))
          from revenue_cell where day >= ?2 and day < ?3 group by \(shop) having \(isSomething)
          """, month, month.firstDay, month.next.firstDay)
      }
    }
    try database.execute("drop table temp.revenue_spill")
  }
}
