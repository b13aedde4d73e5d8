public import Domain

/// A charge of one store transaction as two providers report it.
public struct OverlapRow: Codable, Sendable, Hashable {
  /// The shop.
  public var store: Store
  /// The store's id of the charge.
  public var transaction: String
  /// Whose charge reports count.
  public var counted: Provider
  /// Whose charge they do not count.
  public var other: Provider
  /// Key of the counted lineage.
  public var lineage: Int64
  /// What the counted one says it cost, in US dollars before commission; nil if unknown.
  public var countedUSD: Amount?
  /// What the other one says.
  public var otherUSD: Amount?

  /// A charge that two providers report.
  public init(
    store: Store, transaction: String, counted: Provider, other: Provider, lineage: Int64,
    countedUSD: Amount?, otherUSD: Amount?
  ) {
    (self.store, self.transaction, self.lineage) = (store, transaction, lineage)
    (self.counted, self.other) = (counted, other)
    (self.countedUSD, self.otherUSD) = (countedUSD, otherUSD)
  }
}

extension Ledger {
  /// Replaces what is known of `lineages`, nil for all, by `rows`.
  func write(
    _ rows: [OverlapRow], insteadOf lineages: Set<Int64>?, to database: Connection
  ) throws {
    if let lineages {
      for lineage in lineages {
        try database.run("delete from overlap where lineage = ?", lineage)
      }
    } else {
      try database.execute("delete from overlap")
    }
    for row in rows {
      try database.run(
        """
        insert or replace into overlap (
          store, transaction_id, counted_provider, other_provider, lineage, counted_usd, other_usd)
        values (?, ?, ?, ?, ?, ?, ?)
        """, row.store, row.transaction, row.counted, row.other, row.lineage,
        row.countedUSD?.micros, row.otherUSD?.micros)
    }
  }
}
