import Domain

/// How much there is of everything, counted before anything is written.
struct ArrivalCounts {
  private(set) var summary = SimulationSummary()
  /// Arrivals by UTC day of delivery, counted from the first day.
  private(set) var arrivalsByDay: [Int]
  /// Hours of the receive times that archives show, by feed: the first and last in milliseconds.
  private(set) var hours: [NamedFeed: [Int64: ClosedRange<Int64>]] = [:]

  /// Simulates every customer once.
  init(
    _ scenario: Scenario, _ span: TimeSpan, _ checkStop: StopCheck
  ) throws(SubledgerError) {
    // The last retry comes two days after the end at most, or some minutes later.
    arrivalsByDay = Array(repeating: 0, count: Int((span.end - span.start) / day) + 4)
    summary.asOf = Instant(seconds: span.end)
    for outcome in DeliveryOutcome.allCases { summary.outcomes[outcome] = 0 }
    let model = DeliveryModel(scenario: scenario)
    let envelope = Envelope(scenario: scenario, span: span)
    var number = 0
    while scenario.events.map({ summary.events < $0 }) ?? (number < scenario.subscribers) {
      try checkStop()
      for customer in scenario.histories(of: number, span) {
        for (index, delivery) in model.deliveries(of: customer).enumerated() {
          count(delivery, of: index, in: customer, envelope)
        }
      }
      number += 1
    }
    summary.subscribers = number
  }

  /// `hours`, those of a feed that ended with a migration with what came by the other one.
  func hours(of scenario: Scenario) -> [NamedFeed: [Int64: ClosedRange<Int64>]] {
    var hours = hours
    for shop in Shop.all {
      guard let migration = scenario.migration, migration.moves(shop),
        shop.provider == migration.from
      else { continue }
      var other = shop
      other.provider = migration.to
      hours[shop.feed, default: [:]].merge(self.hours[other.feed] ?? [:]) {
        min($0.lowerBound, $1.lowerBound)...max($0.upperBound, $1.upperBound)
      }
    }
    return hours
  }

  private mutating func count(
    _ delivery: Delivery, of index: Int, in customer: CustomerSimulation, _ envelope: Envelope
  ) {
    summary.events += 1
    summary.lines += delivery.arrivals.count
    summary.outcomes[delivery.outcome, default: 0] += 1
    let feed = customer.person.shop.feed
    for arrival in delivery.arrivals {
      arrivalsByDay[Int((arrival.received / 1000 - envelope.span.start) / day)] += 1
      let known = envelope.knownReceiveTime(arrival, of: index, in: customer)
      let hour = hours[feed]?[known / 3_600_000] ?? known...known
      hours[feed, default: [:]][known / 3_600_000] =
        min(hour.lowerBound, known)...max(hour.upperBound, known)
    }
  }
}

/// Writes the archives of a scenario, in order of delivery, within bounded memory.
///
/// An arrival is kept in 16 bytes; its line is made from its customer, simulated again. Arrivals
/// that are too many to keep at once are written in several passes over all customers.
struct ArchiveWriter {
  let scenario: Scenario
  let span: TimeSpan
  let counts: ArrivalCounts
  let folder: String
  let checkStop: StopCheck
  private(set) var file: GzipFile?
  private(set) var name = ""
  private(set) var files = 0
  private(set) var lines = 0

  private static let passLimit = 2_000_000

  private struct KeptArrival {
    var received: Int64
    var person: UInt32
    var occurrence: UInt16
    var provider: Provider
    var copy: UInt8

    var rank: (Int64, UInt32, UInt16, UInt8, UInt8) {
      (received, person, occurrence, provider.rawValue, copy)
    }
  }

  /// Writes everything and returns the number of files.
  mutating func write() throws(SubledgerError) -> Int {
    let model = DeliveryModel(scenario: scenario)
    let envelope = Envelope(scenario: scenario, span: span)
    let days = counts.arrivalsByDay
    var first = 0
    while first < days.count {
      var (last, count) = (first + 1, days[first])
      while last < days.count, count + days[last] <= Self.passLimit {
        count += days[last]
        last += 1
      }
      for arrival in try arrivals(days: first..<last, count: count, model) {
        try checkStop()
        let customer = scenario.history(of: Int(arrival.person), by: arrival.provider, span)
        guard let customer else { continue }
        let index = Int(arrival.occurrence)
        let sent = model.delivery(of: index, in: customer).arrivals[Int(arrival.copy)]
        try open(fileName(sent))
        try file?.add(envelope.line(of: sent, of: index, in: customer))
        lines += 1
      }
      first = last
    }
    try file?.finish()
    return files
  }

  /// Goes on to another file, if this is one.
  private mutating func open(_ wanted: String) throws(SubledgerError) {
    guard wanted != name else { return }
    try file?.finish()
    file = try GzipFile(path: "\(folder)/\(wanted)")
    name = wanted
    files += 1
  }

  private func fileName(_ arrival: Arrival) -> String {
    switch scenario.archives {
    case .perDay: return "\(civilDay(of: arrival.received / 1000).text).jsonl.gz"
    case .count(let count):
      let number = lines * count / max(counts.summary.lines, 1) + 1
      return "part-\(String(number).zeroPadded(to: 4)).jsonl.gz"
    }
  }

  private func arrivals(
    days: Range<Int>, count: Int, _ model: DeliveryModel
  ) throws(SubledgerError) -> [KeptArrival] {
    let from = (span.start + Int64(days.lowerBound) * day) * 1000
    let to = (span.start + Int64(days.upperBound) * day) * 1000
    var arrivals: [KeptArrival] = []
    arrivals.reserveCapacity(count)
    for number in 0..<counts.summary.subscribers {
      try checkStop()
      for customer in scenario.histories(of: number, span) {
        for (index, delivery) in model.deliveries(of: customer).enumerated() {
          for (copy, arrival) in delivery.arrivals.enumerated()
          where arrival.received >= from && arrival.received < to {
            arrivals.append(
              KeptArrival(
                received: arrival.received, person: UInt32(number), occurrence: UInt16(index),
                provider: customer.person.shop.provider, copy: UInt8(copy)))
          }
        }
      }
    }
    arrivals.sort { $0.rank < $1.rank }
    return arrivals
  }
}

/// Writes archive lines: the body alone, or inside the endpoint's envelope.
struct Envelope {
  let scenario: Scenario
  let span: TimeSpan

  /// Noise that decides how an arrival is archived.
  private static func noise(_ arrival: Arrival, of person: Person) -> UInt64 {
    Randomness.mix(person.noise ^ UInt64(bitPattern: arrival.received))
  }

  /// When an arrival was received as far as its line shows, in milliseconds since 1970: a body
  /// without an envelope contains only its creation time.
  func knownReceiveTime(
    _ arrival: Arrival, of index: Int, in customer: CustomerSimulation
  ) -> Int64 {
    if isEnveloped(arrival, of: customer.person) { return arrival.received }
    let isDetailed = customer.person.shop.sender.isDetailed
    return (isDetailed ? arrival.created : customer.occurrences[index].time) * 1000
  }

  private func isEnveloped(_ arrival: Arrival, of person: Person) -> Bool {
    guard !person.shop.sender.namesAppInHeaders else { return !person.shop.isBare }
    return Self.noise(arrival, of: person) % 1_000_000 < UInt64(scenario.envelopedShare)
  }

  func line(of arrival: Arrival, of index: Int, in customer: CustomerSimulation) -> JSON {
    let shop = customer.person.shop
    let body = shop.sender.body(customer, index, arrival.created, self)
    guard isEnveloped(arrival, of: customer.person) else { return body }
    let noise = Self.noise(arrival, of: customer.person)
    let received = Instant(milliseconds: arrival.received)
    let type: JSON = ["content-type": "application/json"]
    return [
      "receivedAt": noise % 5 == 0 ? received.milliseconds.json : received.text.json,
      "headers": shop.sender.headers(shop).map { type + $0 } ?? type,
      "body": noise % 7 == 0 ? body.quoted : body,
    ]
  }
}
