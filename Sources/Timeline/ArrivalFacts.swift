import Vocabulary

extension Life {
  /// Deliveries that came after an event of the lineage with a later event time, or too late.
  func bookArrivals(into facts: inout Facts) {
    var later = ArrivalFrontier()
    var group = ArrivalFrontier()
    var groupTime: Instant?
    for event in told.reversed() {
      if event.time != groupTime {
        later.merge(group)
        group = ArrivalFrontier()
        groupTime = event.time
      }
      let outOfOrder = later.precedes(event)
      let late = isLate(event)
      group.add(event)
      guard outOfOrder || late else { continue }
      let key = ArrivalKey(
        day: CivilCalendar.utc.day(of: event.received ?? event.created ?? event.time),
        provider: event.provider,
        kind: event.kind)
      if outOfOrder { facts.arrivals[key, default: ArrivalSums()].outOfOrder += 1 }
      if late { facts.arrivals[key, default: ArrivalSums()].late += 1 }
    }
  }

  private func isLate(_ event: Event) -> Bool {
    guard let received = event.received else { return false }
    return received > (event.created ?? event.time) + rules.deliveryWindow(event.provider)
  }
}

/// The earliest arrivals among some events: by receive time, else by place in the archives.
private struct ArrivalFrontier {
  private var received: Instant?
  private var placeOfAny: Place?
  private var placeWithoutReceived: Place?

  mutating func add(_ event: Event) {
    placeOfAny = earlier(placeOfAny, event.place)
    if let time = event.received {
      received = min(received ?? time, time)
    } else {
      placeWithoutReceived = earlier(placeWithoutReceived, event.place)
    }
  }

  mutating func merge(_ other: ArrivalFrontier) {
    if let time = other.received { received = min(received ?? time, time) }
    if let place = other.placeOfAny { placeOfAny = earlier(placeOfAny, place) }
    if let place = other.placeWithoutReceived {
      placeWithoutReceived = earlier(placeWithoutReceived, place)
    }
  }

  /// Whether one of these arrived before `event`.
  func precedes(_ event: Event) -> Bool {
    guard let time = event.received else {
      return placeOfAny.map { isBefore($0, event.place) } ?? false
    }
    if let received, received < time { return true }
    return placeWithoutReceived.map { isBefore($0, event.place) } ?? false
  }

  private func earlier(_ place: Place?, _ other: Place) -> Place {
    guard let place else { return other }
    return isBefore(other, place) ? other : place
  }

  private func isBefore(_ left: Place, _ right: Place) -> Bool {
    (left.archive, left.line, left.byteOffset) < (right.archive, right.line, right.byteOffset)
  }
}
