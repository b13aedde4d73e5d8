import Domain

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
    let isQonversion = customer.person.shop.provider == .qonversion
    return (isQonversion ? arrival.created : customer.occurrences[index].time) * 1000
  }

  /// FLOBUK's headers name the app, so that all of a person's lines keep them or none.
  private func isEnveloped(_ arrival: Arrival, of person: Person) -> Bool {
    guard person.shop.provider != .flobuk else { return !person.shop.isBare }
    return Self.noise(arrival, of: person) % 1_000_000 < UInt64(scenario.envelopedShare)
  }

  func line(of arrival: Arrival, of index: Int, in customer: CustomerSimulation) -> JSON {
    let body = body(of: index, created: arrival.created, in: customer)
    guard isEnveloped(arrival, of: customer.person) else { return body }
    let noise = Self.noise(arrival, of: customer.person)
    let received = Instant(milliseconds: arrival.received)
    return [
      "receivedAt": noise % 5 == 0 ? .int(received.milliseconds) : .text(received.text),
      "headers": headers(of: customer.person.shop),
      "body": noise % 7 == 0 ? .text(body.text) : body,
    ]
  }

  private func body(of index: Int, created: Int64, in customer: CustomerSimulation) -> JSON {
    switch customer.person.shop.provider {
    case .qonversion:
      QonversionEncoder(customer: customer, source: scenario.entitlements)
        .body(of: index, created: created)
    case .flobuk: FlobukEncoder(customer: customer, span: span).body(of: index)
    case .iaptic: IapticEncoder(customer: customer, span: span).body(of: index)
    case .purple: PurpleEncoder(customer: customer, span: span).body(of: index)
    }
  }

  /// The secrets are here to be looked for where they must not be.
  private func headers(of shop: Shop) -> JSON {
    let secret = "simulated-secret"
    return switch shop.provider {
    case .qonversion:
      [
        "content-type": .text("application/json"), "accept": .text("application/json"),
        "authorization": .text("Basic \(secret)"),
      ]
    case .flobuk:
      [
        "content-type": .text("application/json"), "X-App-Id": .text(shop.appID),
        "X-Auth-Key": .text(secret),
      ]
    case .iaptic, .purple: ["content-type": .text("application/json")]
    }
  }
}
