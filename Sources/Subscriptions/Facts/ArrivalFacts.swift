import Domain

/// A delivery that came too late, or behind an event that happened after it.
struct ArrivalDisorder: Sendable {
  /// Index of its event in business order.
  var event: Int
  var isOutOfOrder: Bool
  var isLate: Bool
  /// The event with a later time that was received before it; nil when only provenance shows the
  /// order.
  var overtakenBy: Int?
}

/// The deliveries of one lineage that came late or out of order, the latest event first.
func arrivalDisorder(of events: GroupEvents, _ rules: FoldSettings) -> [ArrivalDisorder] {
  var disorder: [ArrivalDisorder] = []
  var later = ArrivalFrontier()
  var group = ArrivalFrontier()
  var groupTime: Instant?
  for index in events.indices.reversed() where events[index].isTimed {
    let event = events[index]
    if event.time != groupTime {
      later.merge(group)
      group = ArrivalFrontier()
      groupTime = event.time
    }
    let isOutOfOrder = later.precedes(event)
    let isTooLate = event.isLate(rules.deliveryWindow(event.provider))
    if isOutOfOrder || isTooLate {
      disorder.append(
        ArrivalDisorder(
          event: index, isOutOfOrder: isOutOfOrder, isLate: isTooLate,
          overtakenBy: later.receivedBefore(event)))
    }
    group.add(event, at: index)
  }
  return disorder
}

extension SubscriptionHistory {
  /// Deliveries that came after an event of the lineage with a later event time, or too late.
  func bookArrivals<Target: Books>(into books: inout Target) throws(AmountOverflow) {
    for arrival in disorder {
      let event = reported[arrival.event]
      let key = ArrivalKey(
        day: CivilCalendar.utc.day(of: event.arrivedAt),
        provider: event.provider,
        kind: event.kind)
      var sums = ArrivalSums()
      sums.outOfOrder = arrival.isOutOfOrder ? 1 : 0
      sums.late = arrival.isLate ? 1 : 0
      let source = ContributionOrigin(
        .reported(arrival.event, overtakenBy: arrival.overtakenBy), at: event.time)
      try books.add(.arrival(key, sums), from: source)
    }
  }
}

/// Texts about late and overtaken deliveries.
///
/// An order that only the places in the archives show is counted and no finding: the same lines in
/// other files must give the same findings.
func arrivalFindings(
  _ disorder: [ArrivalDisorder], _ events: GroupEvents, _ rules: FoldSettings
) -> [FoldFinding] {
  disorder.flatMap { arrival -> [FoldFinding] in
    let event = events[arrival.event]
    guard let received = event.received else { return [] }
    let here = "\(event.kind.name) of \(event.time.text) was received \(received.text)"
    var findings: [FoldFinding] = []
    if let other = arrival.overtakenBy.map({ events[$0] }), let before = other.received {
      findings.append(
        FoldFinding(
          .outOfOrder, event,
          "\(here), after \(other.kind.name) of \(other.time.text), which was received "
            + before.text))
    }
    if arrival.isLate {
      let window = rules.deliveryWindow(event.provider).milliseconds / 60_000
      findings.append(
        FoldFinding(
          .late, event,
          "\(here), more than the delivery window of \(window) minutes after it was made, "
            + event.madeAt.text))
    }
    return findings
  }
}

/// Texts about messages whose clock was wrong, and whether the next run may judge one otherwise.
func clockFindings(
  _ events: GroupEvents, _ rules: FoldSettings
) -> (findings: [FoldFinding], mayChange: Bool) {
  var (findings, mayChange) = ([FoldFinding](), false)
  var feed = Feed(provider: .qonversion, app: -1)
  var arrivals = rules.arrivals(of: feed)
  for event in events {
    if feed != event.feed {
      feed = event.feed
      arrivals = rules.arrivals(of: feed)
    }
    let arrived = event.arrivedAt
    var problem = event.hasImpossibleClock ? "" : nil
    if !arrivals.contains(arrived), event.observation?.isUndated != true {
      if arrived <= rules.asOf {
        problem = problem ?? ", far from all other messages of its feed"
        mayChange = true
      } else if arrived > rules.asOf + .days(1) {
        if !rules.isLookBack { problem = problem ?? ", after as-of" }
        mayChange = true
      }
    }
    guard let problem else { continue }
    let created = event.created.map { " was created \($0.text)" } ?? " came"
    let received = event.received.map { ", received \($0.text)" } ?? ""
    findings.append(
      FoldFinding(
        .clock, event,
        "\(event.kind.name) of \(event.time.text)\(created)\(received)\(problem)"))
  }
  return (findings, mayChange)
}

/// The earliest arrivals among some events: by receive time, else by place in the archives.
private struct ArrivalFrontier {
  private var received: (at: Instant, event: Int)?
  private var placeOfAny: Provenance?
  private var placeWithoutReceived: Provenance?

  mutating func add(_ event: Event, at index: Int) {
    placeOfAny = earlier(placeOfAny, event.place)
    if let time = event.received {
      take((time, index))
    } else {
      placeWithoutReceived = earlier(placeWithoutReceived, event.place)
    }
  }

  mutating func merge(_ other: ArrivalFrontier) {
    if let earliest = other.received { take(earliest) }
    if let place = other.placeOfAny { placeOfAny = earlier(placeOfAny, place) }
    if let place = other.placeWithoutReceived {
      placeWithoutReceived = earlier(placeWithoutReceived, place)
    }
  }

  func precedes(_ event: Event) -> Bool {
    guard event.received != nil else {
      return placeOfAny.map { $0 < event.place } ?? false
    }
    if receivedBefore(event) != nil { return true }
    return placeWithoutReceived.map { $0 < event.place } ?? false
  }

  /// The one of these that was received first, when that was before `event` was.
  func receivedBefore(_ event: Event) -> Int? {
    guard let time = event.received, let received, received.at < time else { return nil }
    return received.event
  }

  /// Of two that were received in one moment, the one that happened first.
  private mutating func take(_ arrival: (at: Instant, event: Int)) {
    if let known = received, (known.at, known.event) < arrival { return }
    received = arrival
  }

  private func earlier(_ place: Provenance?, _ other: Provenance) -> Provenance {
    place.map { min($0, other) } ?? other
  }
}
