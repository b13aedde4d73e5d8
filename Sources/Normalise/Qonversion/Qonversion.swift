import Decode
import Vocabulary

/// Qonversion: one body is one event, with its money.
struct Qonversion {
  private var reader: QonversionReader

  init(rules: NormaliseRules) { reader = QonversionReader(rules: rules) }

  /// Looks at `object`, of which all other calls speak.
  mutating func look(at object: JSONNode, of tape: JSONTape) { reader.look(at: object, of: tape) }

  /// Whether the object is surely a whole body.
  func isBody(_ tape: JSONTape) -> Bool { reader.isBody(tape) }

  /// Whether the object can only be a body that lacks something.
  func isDamagedBody(_ tape: JSONTape) -> Bool { reader.isDamagedBody(tape) }

  /// Turns the body into its event, or says why it is none.
  ///
  /// Nothing reaches `batch` before the whole body is checked.
  mutating func normalise(
    _ object: JSONNode, of tape: JSONTape, received: Instant?, at place: Place,
    to batch: inout EventBatch
  ) throws(BodyProblem) -> SkipReason? {
    switch try reader.meaning(tape) {
    case .skipped(let reason): return reason
    case .event(let kind):
      let body = try reader.body(kind, tape)
      var event = Event(
        provider: .qonversion, environment: body.environment, store: body.store, kind: kind,
        time: body.time)
      event.place = place
      event.received = received ?? reader.received(tape)
      event.body = Fingerprint.of(tape.bytes(object))
      batch.add(event, from: body)
      return nil
    }
  }
}

extension EventBatch {
  /// Completes `event` from its body and adds it with its ids.
  mutating func add(_ sent: Event, from body: QonversionBody) {
    var event = sent
    let text = internIDs(of: body)
    let app = body.app.isEmpty ? 0 : Fingerprint.of(body.app)
    event.lineage = arena.withUnsafeBytes { arena in
      lineageKey(
        provider: .qonversion, app: app, environment: body.environment, store: body.store,
        original: arena.slice(text.original))
    }
    event.identity = EventIdentity(
      app: app, lineage: event.lineage, transaction: body.transaction, user: body.user,
      product: body.product, name: body.name
    ).fingerprint(of: event)
    event.user = Fingerprint.of(body.user)
    event.transaction = transactionKey(body.transaction)
    event.startsLineage =
      body.transaction.isEmpty || body.original.isEmpty
      || body.transaction.elementsEqual(body.original)
    addWords(of: body, to: &event)
    event.created = body.created
    event.periodStart = body.periodStart
    event.periodEnd = body.periodEnd
    event.graceEnd = body.graceEnd
    event.entitledUntil = body.entitledUntil
    event.renewalCount = body.renewalCount
    roundedAmounts += body.roundedAmounts
    if body.lacksIsProceed { missingIsProceed += 1 }
    events.append(event)
    texts.append(text)
    values.append(Int32(truncatingIfNeeded: lines))
  }

  /// Puts the ids into the arena.
  ///
  /// Bodies of 2020 have no transaction: their lineage is the user's purchase of the product.
  private mutating func internIDs(of body: QonversionBody) -> EventText {
    var text = EventText()
    text.user = intern(body.user)
    text.transaction = intern(body.transaction)
    if !body.original.isEmpty, !body.original.elementsEqual(body.transaction) {
      text.original = intern(body.original)
    } else if !body.transaction.isEmpty {
      text.original = text.transaction
    } else {
      let start = arena.count
      arena.append(contentsOf: body.user)
      arena.append(UInt8(ascii: "|"))
      arena.append(contentsOf: body.product)
      text.original = TextRange(offset: Int32(start), count: Int32(arena.count - start))
    }
    return text
  }

  private mutating func addWords(of body: QonversionBody, to event: inout Event) {
    event.name = symbols.symbol(body.name)
    event.app = symbols.symbol(body.app)
    event.product = symbols.symbol(body.product)
    event.previousProduct = symbols.symbol(body.previousProduct)
    event.country = symbols.code(body.country)
    event.storefront = symbols.code(body.storefront)
    if let revenue = body.revenue {
      event.revenue = Revenue(
        local: revenue.local, usd: revenue.usd, currency: symbols.code(revenue.currency),
        isProceed: revenue.isProceed, rate: revenue.rate)
    }
    if let price = body.price {
      event.price = Price(
        local: price.local, usd: price.usd, currency: symbols.code(price.currency))
    }
  }
}

extension SymbolTable {
  /// The number of a country's or currency's code, which is the same in any case.
  mutating func code(_ bytes: UnsafeRawBufferPointer) -> Symbol {
    guard bytes.contains(where: { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") }) else {
      return symbol(bytes)
    }
    let upper = bytes.map { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") ? $0 & 0xdf : $0 }
    return upper.withUnsafeBytes { symbol($0) }
  }
}

extension UnsafeRawBufferPointer {
  /// The bytes of a text in an arena.
  func slice(_ range: TextRange) -> UnsafeRawBufferPointer {
    let start = Int(range.offset)
    return UnsafeRawBufferPointer(rebasing: self[start..<start + Int(range.count)])
  }
}
