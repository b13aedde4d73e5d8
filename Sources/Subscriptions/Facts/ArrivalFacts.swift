import Domain

/// A delivery that arrived late, or after an event that happened later.
struct ArrivalDisorder: Sendable {
  /// Index of its event in business order.
  var event: Int
  var isOutOfOrder: Bool
  var isLate: Bool
  /// The event with a later time that was received before it; nil if only provenance shows it.
  var overtakenBy: Int?
}

/// The deliveries of one lineage that arrived late or out of order, latest event first.
func arrivalDisorder(of events: GroupEvents, _ rules: FoldSettings) -> [ArrivalDisorder] {
  var disorder: [ArrivalDisorder] = []
  var later = ArrivalFrontier()
  /// Where the events begin that are in `later`, except those without a time of their own.
  var next = events.endIndex
  for index in events.indices.reversed() where events[index].isTimed {
    let event = events[index]
    while next > index + 1, events[next - 1].time != event.time {
      next -= 1
      if events[next].isTimed { later.add(events[next], at: next) }
    }
    let isOutOfOrder = later.precedes(event)
    let isTooLate = event.isLate(rules.deliveryWindow(event.provider))
    if isOutOfOrder || isTooLate {
      disorder.append(
        ArrivalDisorder(
          event: index, isOutOfOrder: isOutOfOrder, isLate: isTooLate,
          overtakenBy: later.receivedBefore(event)))
    }
  }
  return disorder
}

extension SubscriptionHistory {
  /// Books deliveries that arrived late, or after an event of the lineage with a later event time.
  func bookArrivals(into books: inout Books) throws(AmountOverflow) {
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

/// Findings about late and overtaken deliveries.
///
/// An order that only positions in archives show is counted but not reported: the same lines in
/// other files must give the same findings.
func arrivalFindings(
  _ disorder: [ArrivalDisorder], _ events: GroupEvents, _ rules: FoldSettings
) -> [FoldFinding] {
  disorder.flatMap { arrival -> [FoldFinding] in
    let event = events[arrival.event]
    guard let received = event.received else { return [] }
    let here = "\(event.kindAndTime) was received \(received.text)"
    var findings: [FoldFinding] = []
    if let other = arrival.overtakenBy.map({ events[$0] }), let before = other.received {
      findings.append(
        FoldFinding(
          .outOfOrder, event,
          "\(here), after \(other.kindAndTime), which was received \(before.text)"))
    }
    if arrival.isLate {
      let window = rules.deliveryWindow(event.provider).milliseconds / 60_000
      findings.append(
        FoldFinding(
          .late, event,
          "\(here), more than the delivery window of \(window) minutes after it was made, "
            + event.createdAt.text))
    }
    return findings
  }
}

/// Findings about messages with a wrong clock, and whether the next run may judge one differently.
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
      mayChange = true
      if arrived <= rules.asOf {
        problem = problem ?? ", far from all other messages of its feed"
      } else if arrived > rules.asOf + .days(1), !rules.isRetrospective {
        problem = problem ?? ", after as-of"
      }
    }
    guard let problem else { continue }
    let created = event.created.map { " was created \($0.text)" } ?? " came"
    let received = event.received.map { ", received \($0.text)" } ?? ""
    findings.append(
      FoldFinding(
        .clock, event, "\(event.kindAndTime)\(created)\(received)\(problem)"))
  }
  return (findings, mayChange)
}

/// The earliest arrivals among some events, by receive time, else by position in the archives.
private struct ArrivalFrontier {
  private var received: (at: Instant, event: Int)?
  private var placeOfAny: Provenance?
  private var placeWithoutReceived: Provenance?

  /// If two were received at the same moment, the one that happened first counts.
  mutating func add(_ event: Event, at index: Int) {
    placeOfAny = earlier(placeOfAny, event.place)
    guard let time = event.received else {
      return placeWithoutReceived = earlier(placeWithoutReceived, event.place)
    }
    if let known = received, (known.at, known.event) < (time, index) { return }
    received = (time, index)
  }

  func precedes(_ event: Event) -> Bool {
    guard event.received != nil else {
      return placeOfAny.map { $0 < event.place } ?? false
    }
    if receivedBefore(event) != nil { return true }
    return placeWithoutReceived.map { $0 < event.place } ?? false
  }

  /// The event that was received first, if it was received before `event`.
  func receivedBefore(_ event: Event) -> Int? {
    guard let time = event.received, let received, received.at < time else { return nil }
    return received.event
  }

  private func earlier(_ place: Provenance?, _ other: Provenance) -> Provenance {
    place.map { min($0, other) } ?? other
  }
}
