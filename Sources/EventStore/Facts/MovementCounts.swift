public import Domain

extension Ledger {
  /// Returns from the cells how many subscriptions and trials began or changed to each product.
  public func begun() throws(SubledgerError) -> [ProductKey: Int64] {
    let entering = Movement.entering.map { "\($0.rawValue)" }.joined(separator: ", ")
    let counts = try all(
      "count sold products",
      """
      select provider, app, store, product, sum(subscriptions) from movement_cell
      where movement in (\(entering)) group by 1, 2, 3, 4
      union all
      select provider, app, store, product, sum(started) from trial_cell group by 1, 2, 3, 4
      """
    ) { (try $0.productKey(0), $0.int64(4)) }
    return Dictionary(counts, uniquingKeysWith: +)
  }
}

extension Facts {
  /// The same numbers, from these facts.
  public var begun: [ProductKey: Int64] {
    var begun: [ProductKey: Int64] = [:]
    for (key, sums) in movements where Movement.entering.contains(key.movement) {
      begun[key.productKey, default: 0] += sums.subscriptions
    }
    for (key, sums) in trials { begun[key.productKey, default: 0] += sums.started }
    return begun
  }
}

extension Movement {
  /// Movements into a product: the subscription was not part of the active base before.
  static let entering: [Movement] = [.new, .firstSeen, .transferIn]
}

extension Ledger {
  /// Returns the ends in doubt that the movement cells count.
  public func churnDoubts() throws(SubledgerError) -> Set<ChurnInDoubt> {
    Set(
      try all(
        "read ends in doubt",
        "select lineage, at_ms, provider, app, store, product from churn_doubt"
      ) { row in
        ChurnInDoubt(
          lineage: row.int64(0), productKey: try row.productKey(2), at: row.instant(1))
      })
  }

  /// Replaces all ends in doubt.
  func write(_ doubts: Set<ChurnInDoubt>, to database: Connection) throws {
    try database.execute("delete from churn_doubt")
    let insert = try database.statement(
      """
      insert into churn_doubt (lineage, at_ms, provider, app, store, product)
      values (?, ?, ?, ?, ?, ?)
      """)
    for doubt in doubts {
      let key = doubt.productKey
      try insert.run(doubt.lineage, doubt.at, key.provider, key.app, key.store, key.product)
    }
  }
}
