public import Domain

/// Receives the contributions of a subscription, one by one.
///
/// `FactBooks` adds them up; `ContributionLog` keeps each with the events that it comes from. Both
/// are filled by the same functions, so that a number and its explanation cannot differ.
protocol Books {
  mutating func add(
    _ cell: Contribution.Cell, from source: ContributionOrigin
  ) throws(AmountOverflow)
}

/// The source of a contribution, and when it takes effect.
struct ContributionOrigin: Sendable {
  /// Indices refer to the arrays of the history.
  enum Part: Sendable {
    /// A charge or a refund.
    case booking(Int)
    /// A period that opened; after a lapse, and for a change of price, the one before it, too.
    case opening(Int, after: Int?)
    /// A period that ended.
    case ending(Int)
    /// A trial and what became of it.
    case trial(Int)
    /// A switch of auto-renew: the event, of those the fold reads.
    case renewSwitch(Int)
    /// An event whose money is held.
    case held(Int)
    /// A reported event, and the one that overtook it.
    case reported(Int, overtakenBy: Int?)
    /// An event of those the fold reads.
    case event(Int)
  }

  var part: Part
  var at: Instant

  init(_ part: Part, at: Instant) {
    self.part = part
    self.at = at
  }
}

extension SubscriptionHistory {
  /// Adds the contributions of this subscription, or takes them out again with a `count` of −1.
  ///
  /// Sandbox traffic and shared purchases only count as excluded, and charges that nothing chains
  /// only as revenue.
  ///
  /// - Throws: `AmountOverflow` when a sum leaves the range of the ledger.
  public func book(_ count: Int64 = 1, into facts: inout Facts) throws(AmountOverflow) {
    var books = FactBooks(factor: count)
    swap(&books.facts, &facts)
    defer { swap(&books.facts, &facts) }
    if isLarge {
      // A table that grows is held twice.
      books.facts.renewals.reserveCapacity(books.facts.renewals.count + bookings.count)
    }
    try book(all: &books)
  }
}

/// Facts that shares are added to, or taken out of.
private struct FactBooks: Books {
  var facts = Facts()
  /// How many times each share is added: 1 or -1.
  let factor: Int64

  @inline(__always)
  mutating func add(
    _ cell: Contribution.Cell, from _: ContributionOrigin
  ) throws(AmountOverflow) {
    switch cell {
    case .revenue(let key, let sums):
      facts.revenue[key, default: RevenueSums()].add(sums, times: factor)
    case .movement(let key, let sums):
      try facts.movements[key, default: MovementSums()].add(sums, times: factor)
    case .renewal(let key, let sums):
      facts.renewals[key, default: RenewalSums()].add(sums, times: factor)
    case .trial(let key, let sums):
      facts.trials[key, default: TrialSums()].add(sums, times: factor)
    case .retention(let key, let sums):
      facts.retention[key, default: RetentionSums()].add(sums, times: factor)
    case .excluded(let key, let sums):
      facts.excluded[key, default: ExclusionSums()].add(sums, times: factor)
    case .arrival(let key, let sums):
      facts.arrivals[key, default: ArrivalSums()].add(sums, times: factor)
    case .gap(let key, let events): facts.gaps[key, default: 0] += factor * events
    }
  }
}
