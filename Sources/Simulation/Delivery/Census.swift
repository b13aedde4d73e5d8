import Domain

/// A first look at a whole world: how much there is of everything.
struct Census {
  private(set) var summary = SimulationSummary()
  /// Arrivals by UTC day of delivery, counted from the world's first day.
  private(set) var arrivalsByDay: [Int]
  /// Newest receive time that archives tell, by feed, in milliseconds.
  private(set) var watermarks: [NamedFeed: Int64] = [:]

  /// Lives every life of `plan` once.
  init(_ plan: WorldPlan, _ span: Span, _ checkStop: StopCheck) throws(SimulateError) {
    // The last retry comes two days after the end of the world at most, or some minutes later.
    arrivalsByDay = Array(repeating: 0, count: Int((span.end - span.start) / day) + 4)
    summary.asOf = Instant(seconds: span.end)
    for fate in Fate.allCases { summary.fates[fate] = 0 }
    let office = PostOffice(plan)
    let envelope = Envelope(share: plan.envelopedShare, span: span)
    var number = 0
    while plan.events.map({ summary.events < $0 }) ?? (number < plan.subscribers) {
      try checkStop()
      let lived = Story.life(of: number, in: plan, span: span)
      for life in plan.tellers.compactMap({ lived.told(by: $0, span) }) {
        for index in life.happenings.indices {
          count(office.delivery(of: index, in: life), of: index, in: life, envelope)
        }
      }
      number += 1
    }
    summary.subscribers = number
  }

  private mutating func count(
    _ delivery: Delivery, of index: Int, in life: Life, _ envelope: Envelope
  ) {
    summary.events += 1
    summary.lines += delivery.arrivals.count
    summary.fates[delivery.fate, default: 0] += 1
    for arrival in delivery.arrivals {
      arrivalsByDay[Int((arrival.received / 1000 - envelope.span.start) / day)] += 1
      let known = envelope.knownReceiveTime(arrival, of: index, in: life)
      let feed = life.person.shop.feed
      watermarks[feed] = max(watermarks[feed] ?? known, known)
    }
  }
}
