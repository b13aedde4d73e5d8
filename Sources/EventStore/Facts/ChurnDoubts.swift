public import Domain

/// An end that counts as churn although a missing event can contradict it.
public struct ChurnDoubtRow: Sendable, Hashable {
  /// Key of the lineage that ended.
  public var lineage: Int64
  /// The row of the churn report that counts it.
  public var productKey: ProductKey
  /// The effective end.
  public var at: Instant
  /// Whether reconciliation with snapshots found it, rather than events alone.
  public var isBySnapshot: Bool

  /// The end of `lineage` at `at`.
  public init(lineage: Int64, productKey: ProductKey, at: Instant, isBySnapshot: Bool) {
    self.lineage = lineage
    self.productKey = productKey
    self.at = at
    self.isBySnapshot = isBySnapshot
  }
}

extension Ledger {
  /// The ends in doubt that the movement cells count.
  public func churnDoubts() throws(SubledgerError) -> Set<ChurnDoubtRow> {
    Set(
      try all(
        "read ends in doubt",
        "select lineage, at_ms, provider, app, store, product, by_snapshot from churn_doubt"
      ) { row in
        ChurnDoubtRow(
          lineage: row.int64(0), productKey: try row.productKey(2), at: row.instant(1),
          isBySnapshot: row.int64(6) != 0)
      })
  }

  func write(_ doubts: Set<ChurnDoubtRow>, to database: Connection) throws {
    try database.execute("delete from churn_doubt")
    let insert = try database.statement(
      """
      insert into churn_doubt (lineage, at_ms, provider, app, store, product, by_snapshot)
      values (?, ?, ?, ?, ?, ?, ?)
      """)
    for doubt in doubts {
      let key = doubt.productKey
      try insert.run(
        doubt.lineage, doubt.at, key.provider, key.app, key.store, key.product, doubt.isBySnapshot)
    }
  }
}
