internal import Vocabulary

/// How an event lies in a row of `event`.
///
/// Provider, app, environment and store are the lineage's and stand there once. Times other than
/// the event's own are kept as their distance to it, which SQLite stores in fewer bytes.
enum EventColumns {
  /// In the order of `bind` and `read`.
  static let names = """
    lineage, time, identity, version, standing, kind, name, product, previous_product, country, \
    storefront, transaction_id, starts_lineage, user, body, created_delta, received_delta, \
    start_delta, end_delta, grace_delta, entitled_delta, revenue_local, revenue_usd, currency, \
    is_proceed, rate, price_local, price_usd, price_currency, renewal_count, reason, archive, \
    line, byte_offset
    """

  static let insert = """
    insert into event (\(names))
    values (\(Array(repeating: "?", count: 34).joined(separator: ", ")))
    on conflict (lineage, time, identity, version) do nothing
    """

  /// Binds an event whose symbols and place are the ledger's.
  static func bind(
    _ event: Event, version: Int64, standing: Bool, transaction: UnsafeRawBufferPointer,
    to row: RawStatement
  ) {
    row.bind(1, event.lineage)
    row.bind(2, event.time.milliseconds)
    row.bind(3, event.identity)
    row.bind(4, version)
    row.bind(5, Int64(standing ? 1 : 0))
    row.bind(6, Int64(event.kind.rawValue))
    row.bind(7, Int64(event.name))
    row.bind(8, Int64(event.product))
    row.bind(9, Int64(event.previousProduct))
    row.bind(10, Int64(event.country))
    row.bind(11, Int64(event.storefront))
    bind(id: transaction, key: event.transaction, at: 12, to: row)
    row.bind(13, Int64(event.startsLineage ? 1 : 0))
    row.bind(14, event.user)
    row.bind(15, event.body)
    row.bind(16, delta(event.created, event))
    row.bind(17, delta(event.received, event))
    row.bind(18, delta(event.periodStart, event))
    row.bind(19, delta(event.periodEnd, event))
    row.bind(20, delta(event.graceEnd, event))
    row.bind(21, delta(event.entitledUntil, event))
    row.bind(22, event.revenue?.local?.micros)
    row.bind(23, event.revenue?.usd?.micros)
    row.bind(24, event.revenue.map { Int64($0.currency) })
    row.bind(25, event.revenue?.isProceed.map { $0 ? 1 : 0 })
    row.bind(26, event.revenue?.rate?.micros)
    row.bind(27, event.price?.local?.micros)
    row.bind(28, event.price?.usd?.micros)
    row.bind(29, event.price.map { Int64($0.currency) })
    row.bind(30, event.renewalCount.map(Int64.init))
    row.bind(31, event.reason.map { Int64($0.rawValue) })
    row.bind(32, Int64(event.place.archive))
    row.bind(33, event.place.line)
    row.bind(34, event.place.byteOffset)
  }

  /// Binds an id as an integer when its digits are the whole id, else as text.
  static func bind(
    id: UnsafeRawBufferPointer, key: Int64, at index: Int32, to row: RawStatement
  ) {
    if isPlainNumber(id) { row.bind(index, key) } else { row.bind(index, text: id) }
  }

  /// Whether `transactionKey` of the id is the id itself (Vocabulary, Fingerprint.swift).
  static func isPlainNumber(_ id: UnsafeRawBufferPointer) -> Bool {
    guard !id.isEmpty, id.count <= 18, id[0] != UInt8(ascii: "0") || id.count == 1 else {
      return false
    }
    return id.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
  }

  /// The event of a row, with what its lineage says about all of its events.
  static func read(_ row: RawStatement, of lineage: LineageShop) -> Event {
    let time = row.int64(1)
    var event = Event(
      provider: lineage.provider, environment: lineage.environment, store: lineage.store,
      kind: EventKind(rawValue: UInt8(truncatingIfNeeded: row.int64(5))) ?? .other,
      time: Instant(milliseconds: time))
    event.app = lineage.app
    event.lineage = row.int64(0)
    event.identity = row.int64(2)
    event.name = Symbol(row.int64(6))
    event.product = Symbol(row.int64(7))
    event.previousProduct = Symbol(row.int64(8))
    event.country = Symbol(row.int64(9))
    event.storefront = Symbol(row.int64(10))
    event.transaction = row.isInteger(11) ? row.int64(11) : transactionKey(row.bytes(11))
    event.startsLineage = row.int64(12) != 0
    event.user = row.int64(13)
    event.body = row.int64(14)
    event.created = instant(row, 15, time)
    event.received = instant(row, 16, time)
    event.periodStart = instant(row, 17, time)
    event.periodEnd = instant(row, 18, time)
    event.graceEnd = instant(row, 19, time)
    event.entitledUntil = instant(row, 20, time)
    event.revenue = revenue(row)
    event.price = price(row)
    event.renewalCount = row.optionalInt64(29).map(Int32.init(truncatingIfNeeded:))
    event.reason = row.optionalInt64(30).flatMap {
      ChurnReason(rawValue: UInt8(truncatingIfNeeded: $0))
    }
    event.place = Place(
      archive: Int32(truncatingIfNeeded: row.int64(31)), line: row.int64(32),
      byteOffset: row.int64(33))
    return event
  }

  private static func revenue(_ row: RawStatement) -> Revenue? {
    guard let currency = row.optionalInt64(23) else { return nil }
    return Revenue(
      local: row.optionalInt64(21).map(Amount.init), usd: row.optionalInt64(22).map(Amount.init),
      currency: Symbol(currency), isProceed: row.optionalInt64(24).map { $0 != 0 },
      rate: row.optionalInt64(25).map(Amount.init))
  }

  private static func price(_ row: RawStatement) -> Price? {
    guard let currency = row.optionalInt64(28) else { return nil }
    return Price(
      local: row.optionalInt64(26).map(Amount.init), usd: row.optionalInt64(27).map(Amount.init),
      currency: Symbol(currency))
  }

  /// Wraps around for absurd times, and `instant` wraps back.
  @inline(__always)
  private static func delta(_ instant: Instant?, _ event: Event) -> Int64? {
    instant.map { $0.milliseconds &- event.time.milliseconds }
  }

  @inline(__always)
  private static func instant(_ row: RawStatement, _ column: Int32, _ time: Int64) -> Instant? {
    row.optionalInt64(column).map { Instant(milliseconds: time &+ $0) }
  }
}

/// What all events of a lineage have in common.
struct LineageShop: Equatable {
  var provider: Provider
  var app: Symbol
  var environment: Environment
  var store: Store

  init(of event: Event) {
    provider = event.provider
    app = event.app
    environment = event.environment
    store = event.store
  }

  /// Reads provider, app, environment and store from `column` on.
  init(_ row: RawStatement, from column: Int32) throws(LedgerError) {
    guard let provider = Provider(rawValue: UInt8(truncatingIfNeeded: row.int64(column))),
      let environment = Environment(rawValue: UInt8(truncatingIfNeeded: row.int64(column + 2))),
      let store = Store(rawValue: UInt8(truncatingIfNeeded: row.int64(column + 3)))
    else {
      throw LedgerError(
        .corrupt, "cannot read a lineage of the ledger: it names no known provider and store",
        hint: "keep the file, and rebuild the ledger from the archives in a new one")
    }
    self.provider = provider
    app = Symbol(row.int64(column + 1))
    self.environment = environment
    self.store = store
  }
}
