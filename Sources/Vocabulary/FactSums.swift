// Cells are additive, so that lineages can be folded apart and put together.

extension Facts {
  /// Adds cell by cell what other lineages came to.
  ///
  /// Throws `AmountOverflow` when a sum leaves the range of amounts.
  public mutating func add(_ other: Facts) throws(AmountOverflow) {
    if self == Facts() {
      self = other
      return
    }
    for (key, sums) in other.revenue {
      try revenue[key, default: RevenueSums()].add(sums)
    }
    for (key, sums) in other.movements {
      try movements[key, default: MovementSums()].add(sums)
    }
    for (key, sums) in other.renewals { renewals[key, default: RenewalSums()].add(sums) }
    for (key, sums) in other.trials { trials[key, default: TrialSums()].add(sums) }
    for (key, sums) in other.retention {
      try retention[key, default: RetentionSums()].add(sums)
    }
    for (key, sums) in other.excluded { excluded[key, default: ExclusionSums()].add(sums) }
    for (key, sums) in other.arrivals { arrivals[key, default: ArrivalSums()].add(sums) }
    for (key, count) in other.gaps { gaps[key, default: 0] += count }
  }
}

extension PartialSum {
  /// Adds another sum and what it misses.
  public mutating func add(_ other: PartialSum) throws(AmountOverflow) {
    sum = try sum.adding(other.sum)
    unknown += other.unknown
  }
}

extension RevenueSums {
  /// Adds what was booked elsewhere in the cell.
  public mutating func add(_ other: RevenueSums) throws(AmountOverflow) {
    charges += other.charges
    refunds += other.refunds
    try grossUSD.add(other.grossUSD)
    try refundsUSD.add(other.refundsUSD)
    try proceedsUSD.add(other.proceedsUSD)
    try grossLocal.add(other.grossLocal)
    try refundsLocal.add(other.refundsLocal)
    try proceedsLocal.add(other.proceedsLocal)
  }
}

extension MovementSums {
  /// Adds what moved elsewhere in the cell.
  public mutating func add(_ other: MovementSums) throws(AmountOverflow) {
    subscriptions += other.subscriptions
    mrr = try mrr.adding(other.mrr)
  }
}

extension RenewalSums {
  /// Adds renewals of the cell.
  public mutating func add(_ other: RenewalSums) {
    renewals += other.renewals
    refunded += other.refunded
  }
}

extension TrialSums {
  /// Adds trials of the cell.
  public mutating func add(_ other: TrialSums) {
    started += other.started
    converted += other.converted
    canceled += other.canceled
    expired += other.expired
    pending += other.pending
  }
}

extension RetentionSums {
  /// Adds what other lives of the cohort do.
  public mutating func add(_ other: RetentionSums) throws(AmountOverflow) {
    joined += other.joined
    activeChange += other.activeChange
    try netUSD.add(other.netUSD)
  }
}

extension ExclusionSums {
  /// Adds events of the cell.
  public mutating func add(_ other: ExclusionSums) {
    events += other.events
    charges += other.charges
  }
}

extension ArrivalSums {
  /// Adds deliveries of the cell.
  public mutating func add(_ other: ArrivalSums) {
    outOfOrder += other.outOfOrder
    late += other.late
  }
}
