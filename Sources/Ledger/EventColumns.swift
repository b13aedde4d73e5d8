internal import Vocabulary

/// The columns of `event`.
enum EventColumns {
  /// In the order of `bind` and `read`.
  static let names = "lineage, time, identity, version, standing, user, content"

  static let insert = """
    insert into event (\(names)) values (?, ?, ?, ?, ?, ?, ?)
    on conflict (lineage, time, identity, version) do nothing
    """

  /// Binds an event whose symbols and place are the ledger's; `content` is `EventCoding`'s.
  @inline(__always)
  static func bind(
    _ event: Event, version: Int64, standing: Bool, content: [UInt8], to row: RawStatement
  ) {
    row.bind(1, event.lineage)
    row.bind(2, event.time.milliseconds)
    row.bind(3, event.identity)
    row.bind(4, version)
    row.bind(5, Int64(standing ? 1 : 0))
    row.bind(6, event.user)
    row.bind(7, blob: content)
  }

  /// The event of a row, with what its lineage says about all of its events.
  static func read(_ row: RawStatement, of shop: LineageShop) throws(LedgerError) -> Event {
    var event = Event(
      provider: shop.provider, environment: shop.environment, store: shop.store, kind: .other,
      time: Instant(milliseconds: row.int64(1)))
    event.app = shop.app
    event.lineage = row.int64(0)
    event.identity = row.int64(2)
    event.user = row.int64(5)
    guard EventCoding.decode(row.blob(6), into: &event).isSound else { throw damage }
    return event
  }

  /// The transaction id of a row as text.
  static func transaction(_ row: RawStatement) throws(LedgerError) -> String {
    var event = Event(kind: .other, time: Instant(milliseconds: row.int64(1)))
    let (text, isSound) = EventCoding.decode(row.blob(6), into: &event)
    guard isSound else { throw damage }
    return text.map { String(decoding: $0, as: UTF8.self) } ?? String(event.transaction)
  }

  private static var damage: LedgerError {
    LedgerError(
      .corrupt, "cannot read an event of the ledger: its content is damaged",
      hint: "keep the file, and rebuild the ledger from the archives in a new one")
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
