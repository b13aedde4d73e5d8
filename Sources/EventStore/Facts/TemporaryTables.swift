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
}
