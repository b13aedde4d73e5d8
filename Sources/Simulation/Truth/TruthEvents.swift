import Domain

/// Writes what happened and what became of it: one JSON line per event.
struct TruthEvents {
  private let file: GzipFile
  private var buffer = Bytes()

  init(path: String) throws(SimulateError) {
    file = try GzipFile(path: path)
    buffer.reserve(1 << 17)
  }

  /// Writes the events of one life with their deliveries.
  mutating func add(_ life: Life, _ deliveries: [Delivery], span: Span) throws(SimulateError) {
    let evidence = Evidence(life: life, fates: deliveries.map(\.fate), span: span)
    let provider = life.person.shop.provider
    for index in life.happenings.indices {
      write(index, of: life, deliveries[index], span)
      if deliveries[index].fate == .lost {
        buffer.put(",\"witnesses\":[")
        let words =
          provider == .qonversion
          ? evidence.witnesses(of: index) : evidence.witnesses(toldByOther: index)
        for (place, word) in words.enumerated() {
          if place > 0 { buffer.put(",") }
          buffer.put(quoted: word)
        }
        buffer.put("]")
      }
      buffer.put("}\n")
    }
    if buffer.array.count > 1 << 16 { try flush() }
  }

  mutating func finish() throws(SimulateError) {
    try flush()
    try file.finish()
  }

  private mutating func flush() throws(SimulateError) {
    try file.write(buffer)
    buffer.removeAll()
  }

  private mutating func write(
    _ index: Int, of life: Life, _ delivery: Delivery, _ span: Span
  ) {
    let happening = life.happenings[index]
    let person = life.person
    let isQonversion = person.shop.provider == .qonversion
    buffer.put("{\"id\":\"")
    if !isQonversion {
      buffer.put(word: person.shop.provider.name)
      buffer.put("-")
    }
    buffer.put(Int64(person.number))
    buffer.put("-")
    buffer.put(Int64(index))
    if !isQonversion {
      buffer.put("\",\"provider\":\"")
      buffer.put(word: person.shop.provider.name)
    }
    buffer.put("\",\"kind\":")
    buffer.put(quoted: life.kindText(of: happening))
    buffer.put(",\"name\":")
    buffer.put(quoted: life.nameText(of: happening))
    buffer.put(",\"user_id\":")
    buffer.put(quoted: life.userText(at: index))
    buffer.put(",\"lineage\":")
    buffer.put(quoted: life.lineageText(of: happening, span))
    buffer.put(",\"transaction\":\"")
    buffer.put(transaction: happening.transaction, of: person)
    buffer.put("\",\"time\":")
    buffer.put(happening.time)
    writeShop(happening, person)
    if let revenue = happening.revenue {
      buffer.put(",\"value\":")
      buffer.put(micros: revenue.local)
      buffer.put(",\"usd\":")
      buffer.put(micros: revenue.usd)
      buffer.put(happening.sendsProceeds ? ",\"is_proceed\":1" : ",\"is_proceed\":0")
    }
    if let count = happening.renewCount {
      buffer.put(",\"ordinal\":")
      buffer.put(Int64(count))
    }
    writeFate(delivery)
  }

  private mutating func writeShop(_ happening: Happening, _ person: Person) {
    buffer.put(",\"environment\":")
    buffer.put(quoted: person.environment.name)
    buffer.put(",\"app\":")
    buffer.put(quoted: person.shop.appID)
    buffer.put(",\"store\":")
    buffer.put(quoted: person.shop.reportedStore.name)
    buffer.put(",\"product\":")
    buffer.put(quoted: person.app.storeProducts[happening.product])
    buffer.put(",\"country\":")
    buffer.put(quoted: person.market.country)
    buffer.put(",\"currency\":")
    buffer.put(quoted: person.market.currency)
  }

  private mutating func writeFate(_ delivery: Delivery) {
    buffer.put(",\"fate\":")
    buffer.put(quoted: delivery.fate.rawValue)
    buffer.put(",\"copies\":")
    buffer.put(Int64(delivery.arrivals.count))
    buffer.put(",\"received_ms\":[")
    for (place, arrival) in delivery.arrivals.enumerated() {
      if place > 0 { buffer.put(",") }
      buffer.put(arrival.received)
    }
    buffer.put("]")
  }
}
