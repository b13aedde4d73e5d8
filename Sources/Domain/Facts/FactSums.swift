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

extension Facts {
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

extension PartialSum {
  /// Adds `factor` times another sum, including its unknown amounts.
  @inline(__always)
  mutating func add(_ other: PartialSum, times factor: Int64) {
    unknown += factor * other.unknown
    add(other.sum.micros, times: factor)
  }
}

extension RevenueSums {
  /// Adds other bookings of the cell; a factor of -1 subtracts them.
  public mutating func add(_ other: RevenueSums, times factor: Int64 = 1) {
    charges += factor * other.charges
    refunds += factor * other.refunds
    grossUSD.add(other.grossUSD, times: factor)
    refundsUSD.add(other.refundsUSD, times: factor)
    proceedsUSD.add(other.proceedsUSD, times: factor)
    grossLocal.add(other.grossLocal, times: factor)
    refundsLocal.add(other.refundsLocal, times: factor)
    proceedsLocal.add(other.proceedsLocal, times: factor)
  }
}

extension MovementSums {
  /// Adds other movements of the cell; a factor of -1 subtracts them.
  public mutating func add(
    _ other: MovementSums, times factor: Int64 = 1
  ) throws(AmountOverflow) {
    subscriptions += factor * other.subscriptions
    mrr = try mrr.adding(other.mrr, times: factor)
  }
}

extension RenewalSums {
  /// Adds renewals of the cell; a factor of -1 subtracts them.
  public mutating func add(_ other: RenewalSums, times factor: Int64 = 1) {
    renewals += factor * other.renewals
    refunded += factor * other.refunded
  }
}

extension TrialSums {
  /// Adds trials of the cell; a factor of -1 subtracts them.
  public mutating func add(_ other: TrialSums, times factor: Int64 = 1) {
    started += factor * other.started
    converted += factor * other.converted
    canceled += factor * other.canceled
    expired += factor * other.expired
    pending += factor * other.pending
  }
}

extension RetentionSums {
  /// Adds other subscriptions of the cohort; a factor of -1 subtracts them.
  public mutating func add(_ other: RetentionSums, times factor: Int64 = 1) {
    joined += factor * other.joined
    activeChange += factor * other.activeChange
    netUSD.add(other.netUSD, times: factor)
  }
}

extension ExclusionSums {
  /// Adds events of the cell; a factor of -1 subtracts them.
  public mutating func add(_ other: ExclusionSums, times factor: Int64 = 1) {
    events += factor * other.events
    charges += factor * other.charges
  }
}

extension ArrivalSums {
  /// Adds deliveries of the cell; a factor of -1 subtracts them.
  public mutating func add(_ other: ArrivalSums, times factor: Int64 = 1) {
    outOfOrder += factor * other.outOfOrder
    late += factor * other.late
  }
}

extension Amount {
  /// The exact sum of this amount and `factor` times another; throws `AmountOverflow`.
  @inline(__always)
  func adding(_ other: Amount, times factor: Int64) throws(AmountOverflow) -> Amount {
    let (change, overflow) = other.micros.multipliedReportingOverflow(by: factor)
    guard !overflow else { throw AmountOverflow() }
    return try adding(Amount(micros: change))
  }
}
