import Domain

/// Writes archive lines: the body alone, or inside the endpoint's envelope.
struct Envelope {
  /// Events per million that stand in an envelope.
  let share: Int
  let span: Span
  private var body = Bytes()

  init(share: Int, span: Span) {
    self.share = share
    self.span = span
    body.reserve(4_096)
  }

  /// Noise that decides how an arrival is archived.
  private static func noise(_ arrival: Arrival, of person: Person) -> UInt64 {
    Randomness.mix(person.noise ^ UInt64(bitPattern: arrival.received))
  }

  /// When an arrival was received as far as its line tells, in milliseconds since 1970: a body
  /// without envelope knows only when it was made.
  func knownReceiveTime(_ arrival: Arrival, of index: Int, in life: Life) -> Int64 {
    if isEnveloped(arrival, of: life.person) { return arrival.received }
    let isQonversion = life.person.shop.provider == .qonversion
    return (isQonversion ? arrival.created : life.happenings[index].time) * 1000
  }

  /// FLOBUK's headers name the app, so that all of a person's lines keep them or none.
  private func isEnveloped(_ arrival: Arrival, of person: Person) -> Bool {
    guard person.shop.provider != .flobuk else { return !person.shop.isBare }
    return Self.noise(arrival, of: person) % 1_000_000 < UInt64(share)
  }

  /// Appends the line of one arrival.
  mutating func write(_ arrival: Arrival, of index: Int, in life: Life, into line: inout Bytes) {
    let noise = Self.noise(arrival, of: life.person)
    guard isEnveloped(arrival, of: life.person) else {
      writeBody(arrival, of: index, in: life, into: &line)
      return line.put("\n")
    }
    body.removeAll()
    writeBody(arrival, of: index, in: life, into: &body)
    line.put("{\"receivedAt\":")
    if noise % 5 == 0 {
      line.put(arrival.received)
    } else {
      line.put(quoted: Instant(milliseconds: arrival.received).text)
    }
    writeHeaders(of: life.person.shop, into: &line)
    if noise % 7 == 0 {
      line.put("\"")
      line.put(escaped: body)
      line.put("\"}\n")
    } else {
      line.put(body)
      line.put("}\n")
    }
  }

  private func writeBody(
    _ arrival: Arrival, of index: Int, in life: Life, into bytes: inout Bytes
  ) {
    switch life.person.shop.provider {
    case .qonversion:
      QonversionBody(life).write(index, created: arrival.created, into: &bytes)
    case .flobuk: FlobukBody(life, span).write(index, into: &bytes)
    case .iaptic: IapticBody(life, span).write(index, into: &bytes)
    case .purple: PurpleBody(life, span).write(index, into: &bytes)
    }
  }

  /// The secrets are here to be looked for where they must not be.
  private func writeHeaders(of shop: Shop, into line: inout Bytes) {
    line.put(",\"headers\":{\"content-type\":\"application/json\"")
    switch shop.provider {
    case .qonversion:
      line.put(",\"accept\":\"application/json\",\"authorization\":\"Basic simulated-secret\"")
    case .flobuk:
      line.put(",\"X-App-Id\":")
      line.put(quoted: shop.appID)
      line.put(",\"X-Auth-Key\":\"simulated-secret\"")
    case .iaptic, .purple: break
    }
    line.put("},\"body\":")
  }
}
