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
  /// These facts with every measure's sign turned: adding them takes them away.
  public var negated: Facts {
    var facts = Facts()
    facts.revenue = revenue.mapValues(\.negated)
    facts.movements = movements.mapValues(\.negated)
    facts.renewals = renewals.mapValues(\.negated)
    facts.trials = trials.mapValues(\.negated)
    facts.retention = retention.mapValues(\.negated)
    facts.excluded = excluded.mapValues(\.negated)
    facts.arrivals = arrivals.mapValues(\.negated)
    facts.gaps = gaps.mapValues { -$0 }
    return facts
  }
}

extension PartialSum {
  var negated: PartialSum {
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
  var negated: RevenueSums {
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
  var negated: MovementSums {
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
  var negated: RenewalSums {
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
  var negated: TrialSums {
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
  var negated: RetentionSums {
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
  var negated: ExclusionSums {
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
  var negated: ArrivalSums {
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
