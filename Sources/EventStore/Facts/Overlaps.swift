public import Domain

/// A charge of one store transaction that two providers report.
public struct OverlapRow: Codable, Sendable, Hashable {
  /// The store that charged the user.
  public var store: Store
  /// Transaction id of the store.
  public var transaction: String
  /// The provider whose charge reports count.
  public var counted: Provider
  /// The provider whose charge they do not count.
  public var other: Provider
  /// Key of the counted lineage.
  public var lineage: Int64
  /// Amount of the counted charge, in US dollars before commission; nil if unknown.
  public var countedUSD: Amount?
  /// Amount of the other charge, in US dollars before commission; nil if unknown.
  public var otherUSD: Amount?

  /// Creates a row for a charge that two providers report.
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
  /// Replaces the rows of `lineages` by `rows`.
  func write(
    _ rows: [OverlapRow], insteadOf lineages: Set<Int64>, to database: Connection
  ) throws {
    for lineage in lineages {
      try database.run("delete from overlap where lineage = ?", lineage)
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
