public import Domain

extension Ledger {
  /// Returns the ends in doubt that the movement cells count, by snapshots or by events alone.
  public func churnDoubts(bySnapshots: Bool) throws(SubledgerError) -> Set<ChurnInDoubt> {
    Set(
      try all(
        "read ends in doubt",
        """
        select lineage, at_ms, provider, app, store, product from churn_doubt where by_snapshot = ?
        """, bySnapshots
      ) { row in
        ChurnInDoubt(
          lineage: row.int64(0), productKey: try row.productKey(2), at: row.instant(1))
      })
  }

  /// Replaces all ends in doubt.
  func write(
    _ doubts: Set<ChurnInDoubt>, bySnapshots: Set<ChurnInDoubt>, to database: Connection
  ) throws {
    try database.execute("delete from churn_doubt")
    let insert = try database.statement(
      """
      insert into churn_doubt (lineage, at_ms, provider, app, store, product, by_snapshot)
      values (?, ?, ?, ?, ?, ?, ?)
      """)
    for (doubts, isBySnapshot) in [(doubts, false), (bySnapshots, true)] {
      for doubt in doubts {
        let key = doubt.productKey
        try insert.run(
          doubt.lineage, doubt.at, key.provider, key.app, key.store, key.product, isBySnapshot)
      }
    }
  }
}
