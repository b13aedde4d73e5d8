public import Domain

extension Ledger {
  /// Writes `facts` to temporary tables, which queries of this reader use instead of the ledger's
  /// tables with the same names.
  public func layOver(_ facts: Facts) throws(SubledgerError) {
    try access("lay facts over the ledger's") { database in
      for table in Facts.tables {
        try database.execute("drop table if exists temp.\(table)")
        let sql = try database.first(
          "select sql from main.sqlite_schema where type = 'table' and name = ?", table
        ) { $0.text(0) }
        guard let sql, sql.lowercased().hasPrefix("create table") else { continue }
        try database.execute("create temp table" + sql.dropFirst("create table".count))
      }
      for piece in facts.pieces { try piece.rows().insert(in: database) }
    }
  }

  /// Adds a row to a temporary table; `insertion` has one parameter per value and stays prepared.
  public func insert(_ row: [LedgerValue], by insertion: String) throws(SubledgerError) {
    try access("store results") { database in
      let statement = try database.statement(insertion)
      for (index, value) in row.enumerated() { value.bind(to: statement, at: Int32(index + 1)) }
      try statement.run()
    }
  }
}
