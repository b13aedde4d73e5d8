public import Domain

/// Adds up the contributions of a subscription one by one, or lists each with its source events.
///
/// The same functions do both, so that a number and its explanation cannot differ.
struct Books {
  var facts = Facts()
  /// How many times each contribution is added to `facts`: 1 or −1; nil to list it instead.
  var factor: Int64?
  private(set) var shares: [Contribution] = []

  @inline(__always)
  mutating func add(
    _ cell: Contribution.Cell, from source: ContributionOrigin
  ) throws(AmountOverflow) {
    guard let factor else { return list(cell, source) }
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

  @inline(never)
  private mutating func list(_ cell: Contribution.Cell, _ source: ContributionOrigin) {
    shares.append(Contribution(cell: cell, source: source))
  }
}

/// The source of a contribution and the time when it takes effect.
struct ContributionOrigin: Sendable {
  /// Indices refer to the arrays of the history.
  enum Part: Sendable {
    /// A charge or a refund.
    case booking(Int)
    /// A period that opened; `after` is the previous period, after a lapse or for a price change.
    case opening(Int, after: Int?)
    /// A period that ended.
    case ending(Int)
    /// A trial and its outcome.
    case trial(Int)
    /// An event whose money is left out.
    case held(Int)
    /// A reported event, and the one that overtook it.
    case reported(Int, overtakenBy: Int?)
    /// A folded event.
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
  /// Adds the contributions of this subscription, or subtracts them with a `count` of −1.
  ///
  /// Sandbox events and shared purchases are only counted as excluded; charges that are not linked
  /// to a subscription are only counted as revenue.
  ///
  /// - Throws: `AmountOverflow` when a sum exceeds the range of the ledger.
  public func book(_ count: Int64 = 1, into facts: inout Facts) throws(AmountOverflow) {
    var books = Books(factor: count)
    swap(&books.facts, &facts)
    defer { swap(&books.facts, &facts) }
    if isLarge {
      // A growing table needs its old and new memory at once.
      books.facts.renewals.reserveCapacity(books.facts.renewals.count + bookings.count)
    }
    try book(all: &books)
  }
}
