import Domain

extension Delivery {
  /// What becomes of the delivery when the endpoint takes nothing during `outages`.
  ///
  /// An attempt that falls into one fails, and the next one of `schedule` is made; after the last
  /// one the provider gives up.
  func through(_ outages: [ClosedRange<Instant>], _ schedule: [Int64]) -> Delivery {
    if outages.isEmpty { return self }
    var delivery = self
    delivery.arrivals = arrivals.compactMap { $0.through(outages, schedule) }
    if delivery.arrivals.isEmpty {
      delivery.fate = .lost
    } else if fate == .delivered, delivery.arrivals != arrivals {
      delivery.fate = .delayed
    }
    return delivery
  }
}

extension Arrival {
  func through(_ outages: [ClosedRange<Instant>], _ schedule: [Int64]) -> Arrival? {
    var arrival = self
    while outages.contains(where: { $0.contains(Instant(milliseconds: arrival.received)) }) {
      guard arrival.attempt < schedule.count else { return nil }
      let waited = schedule[arrival.attempt] - schedule[arrival.attempt - 1]
      arrival.received += waited * 1000
      arrival.attempt += 1
    }
    return arrival
  }
}
