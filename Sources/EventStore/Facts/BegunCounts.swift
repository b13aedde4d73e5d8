public import Domain

extension Ledger {
  /// How many subscriptions and trials of each product began, or were changed to, as the cells
  /// count them.
  public func begun() throws(SubledgerError) -> [ProductKey: Int64] {
    try access("count sold products") { database in
      let entering = Movement.entering.map { "\($0.rawValue)" }.joined(separator: ", ")
      var begun: [ProductKey: Int64] = [:]
      try database.forEachRow(
        """
        select provider, app, store, product, sum(subscriptions) from movement_cell
        where movement in (\(entering)) group by 1, 2, 3, 4
        union all
        select provider, app, store, product, sum(started) from trial_cell group by 1, 2, 3, 4
        """
      ) { begun[try $0.productKey(0), default: 0] += $0.int64(4) }
      return begun
    }
  }
}

extension Facts {
  /// The same as these facts count it.
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
  /// Those by which a subscription that was not held before is.
  static let entering: [Movement] = [.new, .firstSeen, .transferIn]
}
