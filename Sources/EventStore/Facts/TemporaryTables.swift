public import Domain

extension Ledger {
  /// Writes `facts` to temporary tables, which this reader's queries use instead of the ledger's.
  public func layOver(_ facts: Facts) throws(SubledgerError) {
    try access("lay facts over the ledger's") { database in
      for table in Facts.tables { try database.createTemporary(table, like: table) }
      for piece in facts.pieces { try piece().insert(in: database) }
    }
  }
}

private extension Connection {
  /// Creates an empty temporary table with the columns and the key of `table`.
  func createTemporary(_ name: String, like table: String) throws {
    let sql = try first("select sql from main.sqlite_schema where name = ?", table) { $0.text(0) }
    guard let sql, let columns = sql.firstIndex(of: "(") else {
      throw SubledgerError.damagedLedger("the ledger has no table \(table)")
    }
    try execute("drop table if exists temp.\(name); create temp table \(name)\(sql[columns...])")
  }
}

/// Revenue of a whole fold that does not fit into memory.
///
/// It is added up in temporary tables in an unnamed file that SQLite deletes with the connection.
public struct RevenueSpill {
  private let ledger: Ledger
  private static let tables = ["revenue_cell", "revenue_month_cell"]

  /// Creates an empty spill of `ledger`.
  public init(in ledger: Ledger) throws(SubledgerError) {
    self.ledger = ledger
    try ledger.access("spill revenue") { database in
      for table in Self.tables { try database.createTemporary("\(table)_spill", like: table) }
    }
  }

  /// Adds the cells of `revenue`.
  public func add(_ revenue: [RevenueKey: RevenueSums]) throws(SubledgerError) {
    try ledger.change("spill revenue") { database in
      for piece in revenue.pieces(suffix: "_spill") { try piece().add(in: database) }
    }
  }

  /// Moves the spilled cells into the empty tables of revenue.
  func insert(in database: Connection) throws {
    for table in Self.tables {
      try database.execute(
        "insert into \(table) select * from \(table)_spill; drop table temp.\(table)_spill")
    }
  }
}
