import Domain

/// An arrival in 16 bytes; its line is computed from its customer, simulated again.
typealias KeptArrival = (
  received: Int64, person: UInt32, occurrence: UInt16, provider: UInt8, copy: UInt8
)

/// All arrivals and their counts, determined before anything is written.
struct Arrivals {
  private(set) var summary = SimulationSummary()
  /// In the order of delivery.
  private(set) var all: [KeptArrival] = []
  /// For each feed and hour, the first and last receive time in the archives, in milliseconds.
  private(set) var hours: [NamedFeed: [Int64: ClosedRange<Int64>]] = [:]

  /// Simulates every customer once.
  init(
    _ scenario: Scenario, _ span: TimeSpan, _ checkStop: StopCheck
  ) throws(SubledgerError) {
    summary.asOf = Instant(seconds: span.end)
    let model = DeliveryModel(scenario: scenario)
    let envelope = Envelope(scenario: scenario, span: span)
    var number = 0
    while scenario.events.map({ summary.events < $0 }) ?? (number < scenario.subscribers) {
      try checkStop()
      for customer in scenario.histories(of: number, by: scenario.senders, span) {
        for (index, delivery) in model.deliveries(of: customer).enumerated() {
          add(delivery, of: index, in: customer, envelope)
        }
      }
      number += 1
    }
    summary.subscribers = number
    all.sort { $0 < $1 }
  }

  /// `hours`; for a feed that ended with a migration, including the arrivals of its successor.
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

  private mutating func add(
    _ delivery: Delivery, of index: Int, in customer: CustomerSimulation, _ envelope: Envelope
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
      let known = envelope.knownReceiveTime(arrival, of: index, in: customer)
      let hour = hours[feed]?[known / 3_600_000] ?? known...known
      hours[feed, default: [:]][known / 3_600_000] =
        min(hour.lowerBound, known)...max(hour.upperBound, known)
    }
  }
}

/// Writes the archives of a scenario in the order of delivery.
struct ArchiveWriter {
  let scenario: Scenario
  let span: TimeSpan
  let folder: String
  let checkStop: StopCheck
  private(set) var file: GzipFile?
  private(set) var name = ""
  private(set) var files = 0

  /// Writes everything and returns the number of files.
  mutating func write(_ arrivals: [KeptArrival]) throws(SubledgerError) -> Int {
    let model = DeliveryModel(scenario: scenario)
    let envelope = Envelope(scenario: scenario, span: span)
    for (place, arrival) in arrivals.enumerated() {
      try checkStop()
      guard let provider = Provider(rawValue: arrival.provider),
        let customer = scenario.histories(of: Int(arrival.person), by: [provider], span).first
      else { continue }
      let index = Int(arrival.occurrence)
      let sent = model.delivery(of: index, in: customer).arrivals[Int(arrival.copy)]
      try open(
        fileName(civilDay(of: arrival.received / 1000), share: (place, of: arrivals.count)))
      try file?.add(envelope.line(of: sent, of: index, in: customer))
    }
    try file?.finish()
    return files
  }

  /// Switches to the file `wanted`, unless it is already open.
  private mutating func open(_ wanted: String) throws(SubledgerError) {
    guard wanted != name else { return }
    try file?.finish()
    file = try GzipFile(path: "\(folder)/\(wanted)")
    name = wanted
    files += 1
  }

  private func fileName(_ day: Day, share: (place: Int, of: Int)) -> String {
    guard let count = scenario.archives else { return "\(day.text).jsonl.gz" }
    let number = share.place * count / share.of + 1
    return "part-\(String(number).zeroPadded(to: 4)).jsonl.gz"
  }
}

/// Writes archive lines: the body alone, or in the endpoint's envelope.
struct Envelope {
  let scenario: Scenario
  let span: TimeSpan

  /// Random bits that decide how an arrival is archived.
  private static func noise(_ arrival: Arrival, of person: Person) -> UInt64 {
    Randomness.mix(person.noise ^ UInt64(bitPattern: arrival.received))
  }

  /// The receive time that an arrival's line shows, in milliseconds since 1970: a body without an
  /// envelope contains only its creation time.
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
