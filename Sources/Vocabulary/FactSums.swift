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

extension Facts {
  /// Leaves out the cells that come to nothing.
  public mutating func removeNothings() {
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
  /// The same with every sign turned.
  public var negated: PartialSum {
    var sums = self
    sums.sum = -sum
    sums.unknown = -unknown
    return sums
  }

  /// Adds another sum and what it misses.
  public mutating func add(_ other: PartialSum) throws(AmountOverflow) {
    sum = try sum.adding(other.sum)
    unknown += other.unknown
  }
}

extension RevenueSums {
  /// The same with every sign turned.
  public var negated: RevenueSums {
    var sums = self
    sums.charges = -charges
    sums.refunds = -refunds
    sums.grossUSD = grossUSD.negated
    sums.refundsUSD = refundsUSD.negated
    sums.proceedsUSD = proceedsUSD.negated
    sums.grossLocal = grossLocal.negated
    sums.refundsLocal = refundsLocal.negated
    sums.proceedsLocal = proceedsLocal.negated
    return sums
  }

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
  /// The same with every sign turned.
  public var negated: MovementSums {
    var sums = self
    sums.subscriptions = -subscriptions
    sums.mrr = -mrr
    return sums
  }

  /// Adds what moved elsewhere in the cell.
  public mutating func add(_ other: MovementSums) throws(AmountOverflow) {
    subscriptions += other.subscriptions
    mrr = try mrr.adding(other.mrr)
  }
}

extension RenewalSums {
  /// The same with every sign turned.
  public var negated: RenewalSums {
    var sums = self
    sums.renewals = -renewals
    sums.refunded = -refunded
    return sums
  }

  /// Adds renewals of the cell.
  public mutating func add(_ other: RenewalSums) {
    renewals += other.renewals
    refunded += other.refunded
  }
}

extension TrialSums {
  /// The same with every sign turned.
  public var negated: TrialSums {
    var sums = self
    sums.started = -started
    sums.converted = -converted
    sums.canceled = -canceled
    sums.expired = -expired
    sums.pending = -pending
    return sums
  }

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
  /// The same with every sign turned.
  public var negated: RetentionSums {
    var sums = self
    sums.joined = -joined
    sums.activeChange = -activeChange
    sums.netUSD = netUSD.negated
    return sums
  }

  /// Adds what other lives of the cohort do.
  public mutating func add(_ other: RetentionSums) throws(AmountOverflow) {
    joined += other.joined
    activeChange += other.activeChange
    try netUSD.add(other.netUSD)
  }
}

extension ExclusionSums {
  /// The same with every sign turned.
  public var negated: ExclusionSums {
    var sums = self
    sums.events = -events
    sums.charges = -charges
    return sums
  }

  /// Adds events of the cell.
  public mutating func add(_ other: ExclusionSums) {
    events += other.events
    charges += other.charges
  }
}

extension ArrivalSums {
  /// The same with every sign turned.
  public var negated: ArrivalSums {
    var sums = self
    sums.outOfOrder = -outOfOrder
    sums.late = -late
    return sums
  }

  /// Adds deliveries of the cell.
  public mutating func add(_ other: ArrivalSums) {
    outOfOrder += other.outOfOrder
    late += other.late
  }
}
