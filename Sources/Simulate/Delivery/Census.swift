import Vocabulary

/// A first look at a whole world: how much there is of everything.
struct Census {
  private(set) var summary = SimulationSummary()
  /// Arrivals by UTC day of delivery, counted from the world's first day.
  private(set) var arrivalsByDay: [Int]
  /// Newest receive time that archives tell, by app id, in milliseconds.
  private(set) var watermarks: [String: Int64] = [:]

  /// Lives every life of `plan` once.
  init(_ plan: WorldPlan, _ span: Span) {
    // The last retry comes a day after the end of the world, or some minutes later still.
    arrivalsByDay = Array(repeating: 0, count: Int((span.end - span.start) / day) + 3)
    summary.asOf = Instant(seconds: span.end)
    for fate in Fate.allCases { summary.fates[fate] = 0 }
    let office = PostOffice(plan)
    let envelope = Envelope(share: plan.envelopedShare)
    var number = 0
    while plan.events.map({ summary.events < $0 }) ?? (number < plan.subscribers) {
      let life = Story.life(of: number, in: plan, span: span)
      for index in life.happenings.indices {
        count(office.delivery(of: index, in: life), of: life.person, envelope, span)
      }
      number += 1
    }
    summary.subscribers = number
  }

  private mutating func count(
    _ delivery: Delivery, of person: Person, _ envelope: Envelope, _ span: Span
  ) {
    summary.events += 1
    summary.lines += delivery.arrivals.count
    summary.fates[delivery.fate, default: 0] += 1
    for arrival in delivery.arrivals {
      arrivalsByDay[Int((arrival.received / 1000 - span.start) / day)] += 1
      let known = envelope.knownReceiveTime(arrival, of: person)
      watermarks[person.shop.appID] = max(watermarks[person.shop.appID] ?? known, known)
    }
  }
}
