public import Domain

/// The contribution of one subscription to one cell of the facts.
public struct Contribution: Sendable {
  /// The cell and the added measures.
  public enum Cell: Sendable {
    case revenue(RevenueKey, RevenueSums)
    case movement(MovementKey, MovementSums)
    case renewal(RenewalKey, RenewalSums)
    case trial(ProductDay, TrialSums)
    case retention(RetentionKey, RetentionSums)
    case excluded(ExclusionKey, ExclusionSums)
    case arrival(ArrivalKey, ArrivalSums)
    case gap(CoverageKey, Int64)
  }

  /// The cell and the added measures.
  public let cell: Cell
  let source: ContributionOrigin

  /// Business time at which it takes effect.
  public var at: Instant { source.at }
}

/// A source event of a contribution as folded, and the reported event that contains or proves it: a
/// derived event has the kind and time of the change that a state proves.
public typealias SourceEvent = (event: Event, reported: Event)

extension SubscriptionHistory {
  /// The contributions that `book(into:)` adds, one by one.
  ///
  /// - Throws: `AmountOverflow` when a derived amount does not fit.
  public func shares() throws(AmountOverflow) -> [Contribution] {
    var books = Books()
    try book(all: &books)
    return books.shares
  }

  /// The source events of a contribution: its own, then what determines it, in business order.
  public func evidence(of share: Contribution) -> [SourceEvent] {
    switch share.source.part {
    case .booking(let index):
      let charge = bookings[index].refundedCharge.map { bookings[$0].event }
      return evidence(bookings[index].event, [charge].compactMap(\.self))
    case .opening(let period, let before):
      let earlier = before.map { Array(periods[$0].eventRange) } ?? []
      return evidence(periods[period].opener, earlier)
    case .ending(let period), .trial(let period):
      var deciding = Array(periods[period].eventRange.dropFirst())
      if case .trial = share.source.part, period + 1 < periods.count {
        deciding.append(periods[period + 1].opener)
      }
      return evidence(periods[period].opener, deciding)
    case .held(let index):
      return [held[index].event, held[index].booked].map {
        (event: $0, reported: original(of: $0))
      }
    case .event(let index): return evidence(index, [])
    case .reported(let index, let other):
      return [index, other].compactMap(\.self).map {
        (event: reported[$0], reported: reported[$0])
      }
    }
  }

  /// The events reported before as-of, in business order.
  public var reportedEvents: [Event] { reported.array }

  private func evidence(_ first: Int, _ others: [Int]) -> [SourceEvent] {
    ([first] + others).map { (event: events[$0], reported: original(of: events[$0])) }
  }

  /// The reported event that `event` is, or from which it is derived.
  private func original(of event: Event) -> Event {
    guard !event.provider.capabilities.hasStableOriginalID else { return event }
    return reported.first { $0.identity == event.identity && $0.place == event.place } ?? event
  }
}
