import Domain

/// One arrival of an event in the archive.
struct Arrival: Sendable, Equatable {
  /// When the endpoint received it, in milliseconds since 1970.
  var received: Int64
  /// The provider's attempt, from 1.
  var attempt: Int
  /// When the provider created the message, in seconds; differs only if it was created again.
  var created: Int64
}

/// The outcome of one event's delivery.
struct Delivery: Sendable {
  var outcome: DeliveryOutcome
  /// Empty for a lost event.
  var arrivals: [Arrival]
  /// Whether only a missing archive would have contained an arrival.
  var isOfAbsentDay = false
}

extension Scenario {
  /// Draws how the provider delivers each event of a customer.
  func deliveries(of customer: CustomerSimulation) -> [Delivery] {
    customer.occurrences.indices.map { delivery(of: $0, in: customer) }
  }

  /// The delivery of the occurrence at `index` of `customer`.
  ///
  /// Independent of other occurrences' draws, so that changed shares affect nothing else.
  func delivery(of index: Int, in customer: CustomerSimulation) -> Delivery {
    let person = customer.person
    let schedule = person.shop.sender.attempts
    var delivery = drawn(index, in: customer, schedule)
    let accepted = delivery.arrivals.compactMap { throughOutages($0, schedule) }
    if delivery.outcome == .delivered, delivery.arrivals != accepted { delivery.outcome = .delayed }
    delivery.arrivals = accepted
    if person.shop.sender.hasSecondAddress(person) {
      if delivery.outcome == .delivered { delivery.outcome = .duplicated }
      for var copy in delivery.arrivals {
        copy.received += 1 + Int64(person.noise % 400)
        delivery.arrivals.append(copy)
      }
    }
    let kept = delivery.arrivals.filter { !absentDays.contains(civilDay(of: $0.received / 1000)) }
    delivery.isOfAbsentDay = kept.count < delivery.arrivals.count
    delivery.arrivals = kept
    if kept.isEmpty { delivery.outcome = .lost }
    return delivery
  }

  private func drawn(
    _ index: Int, in customer: CustomerSimulation, _ schedule: [Int64]
  ) -> Delivery {
    let provider = customer.person.shop.provider
    var random = Randomness(
      seed: seed, item: UInt64(customer.person.number) << 16 | UInt64(index),
      stream: provider == .qonversion ? 2 : 16 + UInt64(provider.rawValue))
    let time = customer.occurrences[index].time
    let created = time + random.between(20, 120)
    let first = created * 1000 + random.between(80, 2_800)
    var arrival = Arrival(received: first, attempt: 1, created: created)
    if customer.occurrences[index].fault == .lastAttempt {
      arrival.attempt = schedule.count
      arrival.received += (86_400 + random.between(0, 3 * hour)) * 1000
      return Delivery(outcome: .delayed, arrivals: [arrival])
    }
    let outcome = outcome(&random)
    switch outcome {
    case .delivered: break
    case .lost: return Delivery(outcome: .lost, arrivals: [])
    case .duplicated:
      return Delivery(outcome: .duplicated, arrivals: repeated(arrival, schedule, &random))
    case .delayed:
      arrival.attempt = Int(random.between(2, Int64(schedule.count)))
      arrival.received += schedule[arrival.attempt - 1] * 1000
    case .reordered:
      let isLast = index + 1 == customer.occurrences.count
      let next = isLast ? .max : customer.occurrences[index + 1].time
      // After the next event of the same customer, if that is near enough.
      arrival.received =
        next - time < 20 * hour
        ? (next + 121) * 1000 + random.between(3_000, 60_000)
        : first + random.between(600_000, 7_200_000)
    }
    return Delivery(outcome: outcome, arrivals: [arrival])
  }

  private func outcome(_ random: inout Randomness) -> DeliveryOutcome {
    var draw = Int(random.below(1_000_000))
    let shares: [(DeliveryOutcome, Int)] = [
      (.lost, lostShare), (.duplicated, duplicatedShare),
      (.delayed, delayedShare), (.reordered, reorderedShare),
    ]
    for (outcome, share) in shares {
      if draw < share { return outcome }
      draw -= share
    }
    return .delivered
  }

  /// The endpoint answered too late: the same message is sent again, or a new one.
  private func repeated(
    _ arrival: Arrival, _ schedule: [Int64], _ random: inout Randomness
  ) -> [Arrival] {
    var arrivals = [arrival]
    let copies = random.chance(150_000) ? 2 : 1
    for _ in 0..<copies {
      var again = arrival
      again.attempt = arrivals.count + 1
      again.received += schedule[again.attempt - 1] * 1000 + random.between(0, 900)
      if random.chance(200_000) { again.created += random.between(1, 40) }
      arrivals.append(again)
    }
    return arrivals
  }

  /// The arrival if the endpoint accepts nothing during outages: an attempt in an outage fails,
  /// `schedule` gives the next one, and after the last the provider gives up.
  private func throughOutages(_ drawn: Arrival, _ schedule: [Int64]) -> Arrival? {
    var arrival = drawn
    while outages.contains(where: { $0.contains(.init(milliseconds: arrival.received)) }) {
      guard arrival.attempt < schedule.count else { return nil }
      arrival.received += (schedule[arrival.attempt] - schedule[arrival.attempt - 1]) * 1000
      arrival.attempt += 1
    }
    return arrival
  }
}
