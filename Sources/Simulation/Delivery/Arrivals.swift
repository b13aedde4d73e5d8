import Domain

/// An arrival in 16 bytes; its line is computed from its customer, simulated again.
typealias KeptArrival = (
  received: Int64, person: UInt32, occurrence: UInt16, provider: UInt8, copy: UInt8
)

/// All arrivals and their counts, determined before anything is written.
struct Arrivals {
  private(set) var summary = SimulationSummary()
  /// In the order of delivery.
  private var all: [KeptArrival] = []
  /// For each feed and hour, the first and last receive time in the archives, in milliseconds; for
  /// a feed that ended with a migration, including the arrivals of its successor.
  private(set) var hours: [NamedFeed: [Int64: ClosedRange<Int64>]] = [:]

  /// Simulates every customer once.
  init(_ scenario: Scenario, _ checkStop: StopCheck) throws(SubledgerError) {
    summary.asOf = Instant(seconds: scenario.span.end)
    var number = 0
    while scenario.events.map({ summary.events < $0 }) ?? (number < scenario.subscribers) {
      try checkStop()
      for customer in scenario.histories(of: number, by: scenario.senders) {
        for (index, delivery) in scenario.deliveries(of: customer).enumerated() {
          add(delivery, of: index, in: customer, scenario)
        }
      }
      number += 1
    }
    summary.subscribers = number
    all.sort { $0 < $1 }
    for shop in Shop.all {
      guard let migration = scenario.migration, migration.moves(shop),
        shop.provider == migration.from
      else { continue }
      var other = shop
      other.provider = migration.to
      hours[shop.feed, default: [:]].merge(hours[other.feed] ?? [:]) {
        min($0.lowerBound, $1.lowerBound)...max($0.upperBound, $1.upperBound)
      }
    }
  }

  private mutating func add(
    _ delivery: Delivery, of index: Int, in customer: CustomerSimulation, _ scenario: Scenario
  ) {
    summary.events += 1
    summary.lines += delivery.arrivals.count
    let (person, feed) = (customer.person, customer.person.shop.feed)
    for (copy, arrival) in delivery.arrivals.enumerated() {
      all.append(
        (
          arrival.received, UInt32(person.number), UInt16(index), person.shop.provider.rawValue,
          UInt8(copy)
        ))
      let event = SentEvent(customer: customer, index: index)
      let known = scenario.knownReceiveTime(arrival, of: event)
      let hour = hours[feed]?[known / 3_600_000] ?? known...known
      hours[feed, default: [:]][known / 3_600_000] =
        min(hour.lowerBound, known)...max(hour.upperBound, known)
    }
  }

  /// Writes the archives in the order of delivery, and returns their number.
  func write(
    of scenario: Scenario, into folder: String, _ checkStop: StopCheck
  ) throws(SubledgerError) -> Int {
    var (open, files) = ("", 0)
    var file: GzipFile?
    for (place, arrival) in all.enumerated() {
      try checkStop()
      guard let provider = Provider(rawValue: arrival.provider),
        let customer = scenario.histories(of: Int(arrival.person), by: [provider]).first
      else { continue }
      let part = scenario.archives.map { String(place * $0 / all.count + 1).zeroPadded(to: 4) }
      let name = part.map { "part-\($0)" } ?? civilDay(of: arrival.received / 1000).text
      if name != open {
        try file?.finish()
        file = try GzipFile(path: "\(folder)/\(name).jsonl.gz")
        (open, files) = (name, files + 1)
      }
      let event = SentEvent(customer: customer, index: Int(arrival.occurrence))
      let sent = scenario.delivery(of: event.index, in: customer).arrivals[Int(arrival.copy)]
      try file?.add(scenario.line(of: sent, of: event))
    }
    try file?.finish()
    return files
  }
}

extension Scenario {
  /// Random bits that decide how an arrival is archived.
  private func noise(_ arrival: Arrival, of person: Person) -> UInt64 {
    Randomness.mix(person.noise ^ UInt64(bitPattern: arrival.received))
  }

  /// The receive time that an arrival's line shows, in milliseconds since 1970: a body without an
  /// envelope contains only its creation time.
  func knownReceiveTime(_ arrival: Arrival, of event: SentEvent) -> Int64 {
    if isEnveloped(arrival, of: event.person) { return arrival.received }
    let isDetailed = event.person.shop.sender.isDetailed
    return (isDetailed ? arrival.created : event.occurrence.time) * 1000
  }

  private func isEnveloped(_ arrival: Arrival, of person: Person) -> Bool {
    guard !person.shop.sender.namesAppInHeaders else { return !person.shop.isBare }
    return noise(arrival, of: person) % 1_000_000 < UInt64(envelopedShare)
  }

  /// The line of an archive: the body alone, or in the endpoint's envelope.
  func line(of arrival: Arrival, of event: SentEvent) -> JSON {
    let shop = event.person.shop
    let body = shop.sender.body(event, arrival.created, self)
    guard isEnveloped(arrival, of: event.person) else { return body }
    let noise = noise(arrival, of: event.person)
    let received = Instant(milliseconds: arrival.received)
    let type: JSON = ["content-type": "application/json"]
    return [
      "receivedAt": noise % 5 == 0 ? received.milliseconds.json : received.text.json,
      "headers": shop.sender.headers(shop).map { type + $0 } ?? type,
      "body": noise % 7 == 0 ? body.quoted : body,
    ]
  }
}
