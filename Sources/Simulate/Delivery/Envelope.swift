import Vocabulary

/// Writes archive lines: the body alone, or inside the endpoint's envelope.
struct Envelope {
  /// Events per million that stand in an envelope.
  let share: Int
  private var body = Bytes()

  init(share: Int) {
    self.share = share
    body.reserve(4_096)
  }

  /// Noise that decides how an arrival is archived.
  private static func noise(_ arrival: Arrival, of person: Person) -> UInt64 {
    Randomness.mix(person.noise ^ UInt64(bitPattern: arrival.received))
  }

  /// When an arrival was received as far as its line tells, in milliseconds since 1970: a body
  /// without envelope knows only when it was made.
  func knownReceiveTime(_ arrival: Arrival, of person: Person) -> Int64 {
    let isEnveloped = Self.noise(arrival, of: person) % 1_000_000 < UInt64(share)
    return isEnveloped ? arrival.received : arrival.created * 1000
  }

  /// Appends the line of one arrival.
  mutating func write(_ arrival: Arrival, of index: Int, in life: Life, into line: inout Bytes) {
    let noise = Self.noise(arrival, of: life.person)
    guard noise % 1_000_000 < UInt64(share) else {
      QonversionBody(life).write(index, created: arrival.created, into: &line)
      return line.put("\n")
    }
    body.removeAll()
    QonversionBody(life).write(index, created: arrival.created, into: &body)
    line.put("{\"receivedAt\":")
    if noise % 5 == 0 {
      line.put(arrival.received)
    } else {
      line.put(quoted: Instant(milliseconds: arrival.received).text)
    }
    // The secret is here to be looked for where it must not be.
    line.put(",\"headers\":{\"content-type\":\"application/json\",\"accept\":\"application/json\"")
    line.put(",\"authorization\":\"Basic simulated-secret\"},\"body\":")
    if noise % 7 == 0 {
      line.put("\"")
      line.put(escaped: body)
      line.put("\"}\n")
    } else {
      line.put(body)
      line.put("}\n")
    }
  }
}
