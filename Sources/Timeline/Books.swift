import Vocabulary

/// What takes in the meaning of a life, share by share.
///
/// `Facts` adds the shares up; `ShareList` keeps each with the events that it comes from. Both are
/// filled by the same functions, so that a number and its explanation cannot differ.
protocol Books {
  mutating func add(
    _ sums: RevenueSums, to key: RevenueKey, from source: ShareSource
  ) throws(AmountOverflow)
  mutating func add(
    _ sums: MovementSums, to key: MovementKey, from source: ShareSource
  ) throws(AmountOverflow)
  mutating func add(
    _ sums: RetentionSums, to key: RetentionKey, from source: ShareSource
  ) throws(AmountOverflow)
  mutating func add(_ sums: RenewalSums, to key: RenewalKey, from source: ShareSource)
  mutating func add(_ sums: TrialSums, to key: OfferingDay, from source: ShareSource)
  mutating func add(_ sums: ExclusionSums, to key: ExclusionKey, from source: ShareSource)
  mutating func add(_ sums: ArrivalSums, to key: ArrivalKey, from source: ShareSource)
  mutating func add(_ events: Int64, to key: CoverageKey, from source: ShareSource)
}

/// The part of a life that a share comes from, and when it takes effect.
struct ShareSource: Sendable {
  /// Indices are those of the life's arrays.
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
    /// A told event, and the one that overtook it.
    case told(Int, overtakenBy: Int?)
    /// An event of those the fold reads.
    case event(Int)
  }

  var part: Part
  /// Business time.
  var at: Instant

  init(_ part: Part, at: Instant) {
    self.part = part
    self.at = at
  }
}

extension Facts: Books {
  mutating func add(
    _ sums: RevenueSums, to key: RevenueKey, from _: ShareSource
  ) throws(AmountOverflow) {
    try revenue[key, default: RevenueSums()].add(sums)
  }

  mutating func add(
    _ sums: MovementSums, to key: MovementKey, from _: ShareSource
  ) throws(AmountOverflow) {
    try movements[key, default: MovementSums()].add(sums)
  }

  mutating func add(
    _ sums: RetentionSums, to key: RetentionKey, from _: ShareSource
  ) throws(AmountOverflow) {
    try retention[key, default: RetentionSums()].add(sums)
  }

  mutating func add(_ sums: RenewalSums, to key: RenewalKey, from _: ShareSource) {
    renewals[key, default: RenewalSums()].add(sums)
  }

  mutating func add(_ sums: TrialSums, to key: OfferingDay, from _: ShareSource) {
    trials[key, default: TrialSums()].add(sums)
  }

  mutating func add(_ sums: ExclusionSums, to key: ExclusionKey, from _: ShareSource) {
    excluded[key, default: ExclusionSums()].add(sums)
  }

  mutating func add(_ sums: ArrivalSums, to key: ArrivalKey, from _: ShareSource) {
    arrivals[key, default: ArrivalSums()].add(sums)
  }

  mutating func add(_ events: Int64, to key: CoverageKey, from _: ShareSource) {
    gaps[key, default: 0] += events
  }
}
