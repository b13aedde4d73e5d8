import Formats
import Domain

/// The content of a Qonversion body, checked, before it is stored.
///
/// Bytes point into the line: a body lives no longer than its tape's value.
struct QonversionBody {
  var name = UnsafeRawBufferPointer.none
  var kind = EventKind.other
  var user = UnsafeRawBufferPointer.none
  var time = Instant(milliseconds: 0)
  var created: Instant?
  var environment = Environment.production
  var store = Store.unknown
  var app = UnsafeRawBufferPointer.none
  /// Fingerprint of the project, where the body names no app; else 0.
  var project: Int64 = 0
  var product = UnsafeRawBufferPointer.none
  var previousProduct = UnsafeRawBufferPointer.none
  /// Play's base plan of `product`.
  var basePlan = UnsafeRawBufferPointer.none
  var country = UnsafeRawBufferPointer.none
  var storefront = UnsafeRawBufferPointer.none
  var transaction = UnsafeRawBufferPointer.none
  var original = UnsafeRawBufferPointer.none
  var periodStart: Instant?
  var periodEnd: Instant?
  var graceEnd: Instant?
  var entitledUntil: Instant?
  var revenue: Revenue?
  var revenueCurrency = UnsafeRawBufferPointer.none
  var price: Price?
  var priceCurrency = UnsafeRawBufferPointer.none
  var units: Int32 = 1
  var renewalCount: Int32?
  var roundedAmounts: Int64 = 0
  /// The body's entitlements if they contain more than the event, else none.
  var entitlements: [Entitlement] = []

  /// When the subscription began at the latest if none of its periods was longer than this one, a
  /// trial and a period of grace included; nil but for its first twelve renewals.
  var earliestStart: Instant? {
    guard let count = renewalCount, (1...12).contains(count), let start = periodStart,
      let end = periodEnd, start < end, end.since(start) < .days(400)
    else { return nil }
    let length = end.since(start).milliseconds
    return start - .days(31) - Interval(milliseconds: length * (Int64(count) + 1))
  }

  /// The substitute for the original transaction id in bodies of 2020, which have no transaction.
  var userAndProduct: [UInt8] { originalID(ofUser: user, product: product) }

  /// A charge or refund whose money is not marked as price or proceeds.
  var lacksIsProceed: Bool {
    guard let revenue, revenue.isProceed == nil else { return false }
    return kind.chargeKind != nil || kind.isRefund || kind.isProductChange
  }
}

extension EventBatch {
  /// Adds the event of a body with this fingerprint, and its ids.
  ///
  /// The batch is written last: its memory is mostly not in the processor's cache, and reads after
  /// such a write wait for it: 100 ns an event if the ids were hashed there. So no `EventDraft` is
  /// made, whose ids the batch would hold before they become keys.
  ///
  /// In one thing the event is meant to be another one than a draft's: its original id is that of a
  /// transaction in every shop.
  mutating func add(
    _ body: QonversionBody, of fingerprint: Int64, received: Instant?, at place: Provenance
  ) {
    var event = Event(
      provider: .qonversion, environment: body.environment, store: body.store, kind: body.kind,
      time: body.time)
    event.fillIDs(from: body)
    event.fillWords(from: body, &symbols)
    event.body = fingerprint
    event.received = received
    event.place = place
    event.created = body.created
    event.periodStart = body.periodStart
    event.periodEnd = body.periodEnd
    event.graceEnd = body.graceEnd
    event.entitledUntil = body.entitledUntil
    event.units = body.units
    event.renewalCount = body.renewalCount
    note(
      roundedAmounts: body.roundedAmounts, missingIsProceed: body.lacksIsProceed ? 1 : 0)
    note(body.entitlements)
    events.append(event)
    texts.append(internIDs(of: body))
    values.append(Int32(truncatingIfNeeded: lines))
  }

  private mutating func internIDs(of body: QonversionBody) -> EventText {
    var text = EventText()
    text.user = intern(body.user)
    text.transaction = intern(body.transaction)
    if !body.original.isEmpty, !body.original.isEqual(to: body.transaction) {
      text.original = intern(body.original)
    } else if !body.transaction.isEmpty {
      text.original = text.transaction
    } else {
      text.original = body.userAndProduct.withUnsafeBytes { intern($0) }
    }
    return text
  }
}

extension Event {
  mutating func fillIDs(from body: QonversionBody) {
    let app = body.app.isEmpty ? 0 : Fingerprint.of(body.app)
    func key(_ original: UnsafeRawBufferPointer) -> Int64 {
      lineageKey(
        provider: provider, app: app, environment: environment, store: store, original: original)
    }
    let original = body.original.isEmpty ? body.transaction : body.original
    lineage = original.isEmpty ? body.userAndProduct.withUnsafeBytes(key) : key(original)
    identity = fingerprint(
      app: app, transaction: body.transaction, user: body.user, product: body.product,
      name: body.name, mark: body.project)
    user = Fingerprint.of(body.user)
    transaction = transactionKey(body.transaction)
    startsLineage = isOriginal(body.transaction, of: body.original)
  }

  mutating func fillWords(from body: QonversionBody, _ symbols: inout StringTable) {
    name = symbols.symbol(body.name)
    app = symbols.symbol(body.app)
    product = symbols.product(body)
    previousProduct = symbols.symbol(body.previousProduct)
    country = symbols.code(body.country)
    storefront = symbols.code(body.storefront)
    revenue = body.revenue
    revenue?.currency = symbols.code(body.revenueCurrency)
    price = body.price
    price?.currency = symbols.code(body.priceCurrency)
  }
}

extension StringTable {
  /// The number of a body's product, which on Play is `product:base_plan`.
  mutating func product(_ body: QonversionBody) -> StringID {
    let colon = UInt8(ascii: ":")
    guard !body.basePlan.isEmpty, !body.product.isEmpty, !body.product.contains(colon),
      ![.purchased, .purchaseRefunded].contains(body.kind)
    else { return symbol(body.product) }
    return (Array(body.product) + [colon] + body.basePlan).withUnsafeBytes { symbol($0) }
  }

  /// The number of a country's or currency's code, which is the same in any case.
  mutating func code(_ bytes: UnsafeRawBufferPointer) -> StringID {
    guard bytes.contains(where: { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") }) else {
      return symbol(bytes)
    }
    return bytes.map(raised).withUnsafeBytes { symbol($0) }
  }
}
