// Cells are additive, so that lineages can be folded separately and merged.

extension Facts {
  /// Adds the facts of other lineages, cell by cell.
  ///
  /// Throws `AmountOverflow` when a sum exceeds the range of amounts.
  public mutating func add(_ other: Facts) throws(AmountOverflow) {
    revenue.add(other.revenue, to: RevenueSums()) { $0.add($1) }
    try movements.add(other.movements, to: MovementSums()) { sums, more throws(AmountOverflow) in
      try sums.add(more)
    }
    renewals.add(other.renewals, to: RenewalSums()) { $0.add($1) }
    trials.add(other.trials, to: TrialSums()) { $0.add($1) }
    retention.add(other.retention, to: RetentionSums()) { $0.add($1) }
    excluded.add(other.excluded, to: ExclusionSums()) { $0.add($1) }
    arrivals.add(other.arrivals, to: ArrivalSums()) { $0.add($1) }
    gaps.add(other.gaps, to: 0, +=)
  }

  /// Adds the revenue of other lineages.
  public mutating func add(_ cells: [RevenueKey: RevenueSums]) {
    for (key, sums) in cells { revenue[key, default: RevenueSums()].add(sums) }
  }

  /// Removes cells whose sums are all zero.
  public mutating func removeZeros() {
    revenue = revenue.filter { $0.value != RevenueSums() }
    movements = movements.filter { $0.value != MovementSums() }
    renewals = renewals.filter { $0.value != RenewalSums() }
    trials = trials.filter { $0.value != TrialSums() }
    retention = retention.filter { $0.value != RetentionSums() }
    excluded = excluded.filter { $0.value != ExclusionSums() }
    arrivals = arrivals.filter { $0.value != ArrivalSums() }
    gaps = gaps.filter { $0.value != 0 }
  }
}

private extension Dictionary {
  /// Adds cells to these, with `nothing` for a missing one; if this is empty, it becomes `cells`
  /// unchanged.
  mutating func add<Failure>(
    _ cells: Self, to nothing: Value, _ sum: (inout Value, Value) throws(Failure) -> Void
  ) throws(Failure) {
    guard !isEmpty else { return self = cells }
    for (key, value) in cells { try sum(&self[key, default: nothing], value) }
  }
}
