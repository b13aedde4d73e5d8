internal import Domain

/// The layout of an event's content in its record (EventRecords.swift).
///
/// Provider, app, environment and store are stored once, in the lineage; time, identity and user
/// precede the content. Fields follow each other as below, without absent ones; bits of the first
/// number mark the present ones.
enum EventCoding {
  private enum Flag {
    static let startsLineage: UInt64 = 1 << 0
    static let created: UInt64 = 1 << 1
    static let received: UInt64 = 1 << 2
    static let periodStart: UInt64 = 1 << 3
    static let periodEnd: UInt64 = 1 << 4
    static let graceEnd: UInt64 = 1 << 5
    static let entitledUntil: UInt64 = 1 << 6
    static let revenue: UInt64 = 1 << 7
    static let revenueLocal: UInt64 = 1 << 8
    static let revenueUSD: UInt64 = 1 << 9
    static let hasIsProceed: UInt64 = 1 << 10
    static let isProceed: UInt64 = 1 << 11
    static let rate: UInt64 = 1 << 12
    static let price: UInt64 = 1 << 13
    static let priceLocal: UInt64 = 1 << 14
    static let priceUSD: UInt64 = 1 << 15
    static let renewalCount: UInt64 = 1 << 16
    /// Price and revenue are the same amounts in one currency, and are stored once.
    static let priceIsRevenue: UInt64 = 1 << 17
    static let transactionIsNumber: UInt64 = 1 << 18

    /// The time with that flag is stored in milliseconds instead of seconds.
    static func finer(_ time: UInt64) -> UInt64 { time << 18 }

    static let observation: UInt64 = 1 << 25
    static let collection: UInt64 = 1 << 26
    static let reason: UInt64 = 1 << 27
    static let offer: UInt64 = 1 << 28
    static let units: UInt64 = 1 << 29
    static let entitlements: UInt64 = 1 << 30
  }

  /// Encodes an event that has the ledger's symbols and provenance.
  ///
  /// - Parameter entitlements: those of its body, encoded by `EntitlementCoding`; empty for none.
  static func encode(
    _ event: Event, transaction: UnsafeRawBufferPointer, entitlements: [UInt8] = [],
    to writer: inout ByteWriter
  ) {
    let isNumber = Int64(plainNumber: transaction) != nil
    writer.put(
      unsigned: flags(event) | (isNumber ? Flag.transactionIsNumber : 0)
        | (entitlements.isEmpty ? 0 : Flag.entitlements))
    if isNumber { writer.put(event.transaction) } else { writer.put(transaction) }
    writer.put(Int64(event.kind.rawValue))
    put(event.name, to: &writer)
    put(event.product, to: &writer)
    put(event.previousProduct, to: &writer)
    put(event.country, to: &writer)
    put(event.storefront, to: &writer)
    put(event.created, of: event, to: &writer)
    put(event.received, of: event, to: &writer)
    put(event.periodStart, of: event, to: &writer)
    put(event.periodEnd, of: event, to: &writer)
    put(event.graceEnd, of: event, to: &writer)
    put(event.entitledUntil, of: event, to: &writer)
    if let revenue = event.revenue {
      put(revenue.currency, to: &writer)
      put(revenue.local, to: &writer)
      put(revenue.usd, to: &writer)
      put(revenue.rate, to: &writer)
    }
    if let price = event.price, !isPriceRevenue(event) {
      put(price.currency, to: &writer)
      put(price.local, to: &writer)
      put(price.usd, to: &writer)
    }
    if let count = event.renewalCount { writer.put(Int64(count)) }
    if let reason = event.reason { writer.put(Int64(reason.rawValue)) }
    if let state = event.observation {
      ObservationCoding.encode(state, at: event.time, to: &writer)
    }
    if event.collection != 0 { writer.put(hash: event.collection) }
    if event.offer != 0 { put(event.offer, to: &writer) }
    if event.units != 1 { writer.put(Int64(event.units)) }
    if !entitlements.isEmpty { entitlements.withUnsafeBytes { writer.put($0) } }
    writer.put(hash: event.body)
    writer.put(Int64(event.place.archive))
    writer.put(event.place.line)
    writer.put(event.place.byteOffset)
  }

  /// Completes `event`, whose lineage, time, identity and user are set, from the bytes.
  ///
  /// Returns the transaction id's bytes when it is stored as text, the body's entitlements, and
  /// whether `encode` can have written the bytes.
  static func decode(
    _ bytes: UnsafeRawBufferPointer, into event: inout Event
  ) -> (
    transaction: UnsafeRawBufferPointer?, entitlements: UnsafeRawBufferPointer?, isSound: Bool
  ) {
    var reader = ByteReader(bytes)
    let flags = reader.unsigned()
    func has(_ flag: UInt64) -> Bool { flags & flag != 0 }
    var text: UnsafeRawBufferPointer?
    if has(Flag.transactionIsNumber) {
      event.transaction = reader.signed()
    } else {
      let bytes = reader.text()
      event.transaction = transactionKey(bytes)
      text = bytes
    }
    event.startsLineage = has(Flag.startsLineage)
    event.kind = reader.value(EventKind.self, else: .other)
    event.name = symbol(&reader)
    event.product = symbol(&reader)
    event.previousProduct = symbol(&reader)
    event.country = symbol(&reader)
    event.storefront = symbol(&reader)
    event.created = instant(&reader, flags, Flag.created, event)
    event.received = instant(&reader, flags, Flag.received, event)
    event.periodStart = instant(&reader, flags, Flag.periodStart, event)
    event.periodEnd = instant(&reader, flags, Flag.periodEnd, event)
    event.graceEnd = instant(&reader, flags, Flag.graceEnd, event)
    event.entitledUntil = instant(&reader, flags, Flag.entitledUntil, event)
    if has(Flag.revenue) {
      var revenue = Revenue(currency: symbol(&reader))
      if has(Flag.revenueLocal) { revenue.local = amount(&reader) }
      if has(Flag.revenueUSD) { revenue.usd = amount(&reader) }
      if has(Flag.rate) { revenue.rate = amount(&reader) }
      if has(Flag.hasIsProceed) { revenue.isProceed = has(Flag.isProceed) }
      event.revenue = revenue
    }
    if has(Flag.priceIsRevenue), let revenue = event.revenue {
      event.price = Price(local: revenue.local, usd: revenue.usd, currency: revenue.currency)
    } else if has(Flag.price) {
      var price = Price(currency: symbol(&reader))
      if has(Flag.priceLocal) { price.local = amount(&reader) }
      if has(Flag.priceUSD) { price.usd = amount(&reader) }
      event.price = price
    }
    if has(Flag.renewalCount) { event.renewalCount = int32(&reader) }
    if has(Flag.reason) { event.reason = reader.value(ChurnReason.self, else: .unknown) }
    if has(Flag.observation) {
      event.observation = ObservationCoding.decode(&reader, at: event.time)
    }
    if has(Flag.collection) { event.collection = reader.hash() }
    if has(Flag.offer) { event.offer = symbol(&reader) }
    if has(Flag.units) { event.units = int32(&reader) }
    let entitlements = has(Flag.entitlements) ? reader.text() : nil
    event.body = reader.hash()
    event.place.archive = int32(&reader)
    event.place.line = reader.signed()
    event.place.byteOffset = reader.signed()
    return (text, entitlements, reader.isSound && reader.isAtEnd)
  }

  static func hasEntitlements(_ content: UnsafeRawBufferPointer) -> Bool {
    var reader = ByteReader(content)
    return reader.unsigned() & Flag.entitlements != 0
  }

  private static func flags(_ event: Event) -> UInt64 {
    var flags: UInt64 = 0
    func set(_ flag: UInt64, _ isSet: Bool) { if isSet { flags |= flag } }
    func set(_ flag: UInt64, _ instant: Instant?) {
      guard let instant else { return }
      flags |= isWhole(instant, of: event) ? flag : flag | Flag.finer(flag)
    }
    set(Flag.startsLineage, event.startsLineage)
    set(Flag.created, event.created)
    set(Flag.received, event.received)
    set(Flag.periodStart, event.periodStart)
    set(Flag.periodEnd, event.periodEnd)
    set(Flag.graceEnd, event.graceEnd)
    set(Flag.entitledUntil, event.entitledUntil)
    if let revenue = event.revenue {
      set(Flag.revenue, true)
      set(Flag.revenueLocal, revenue.local != nil)
      set(Flag.revenueUSD, revenue.usd != nil)
      set(Flag.hasIsProceed, revenue.isProceed != nil)
      set(Flag.isProceed, revenue.isProceed == true)
      set(Flag.rate, revenue.rate != nil)
    }
    if isPriceRevenue(event) {
      set(Flag.priceIsRevenue, true)
    } else if let price = event.price {
      set(Flag.price, true)
      set(Flag.priceLocal, price.local != nil)
      set(Flag.priceUSD, price.usd != nil)
    }
    set(Flag.renewalCount, event.renewalCount != nil)
    set(Flag.reason, event.reason != nil)
    set(Flag.observation, event.observation != nil)
    set(Flag.collection, event.collection != 0)
    set(Flag.offer, event.offer != 0)
    set(Flag.units, event.units != 1)
    return flags
  }

  private static func isPriceRevenue(_ event: Event) -> Bool {
    guard let price = event.price, let revenue = event.revenue else { return false }
    return price.currency == revenue.currency && price.local == revenue.local
      && price.usd == revenue.usd
  }

  /// Symbols are never negative; most fit in one byte.
  @inline(__always)
  private static func put(_ symbol: StringID, to writer: inout ByteWriter) {
    writer.put(unsigned: UInt64(UInt32(bitPattern: symbol)))
  }

  @inline(__always)
  private static func symbol(_ reader: inout ByteReader) -> StringID {
    StringID(bitPattern: UInt32(truncatingIfNeeded: reader.unsigned()))
  }

  /// Writes whole hundredths as such, which saves two bytes, and other amounts in millionths; the
  /// lowest bit marks which.
  @inline(__always)
  private static func put(_ amount: Amount?, to writer: inout ByteWriter) {
    guard let micros = amount?.micros else { return }
    let (hundredths, rest) = micros.quotientAndRemainder(dividingBy: 10_000)
    writer.put(rest == 0 ? hundredths << 1 : micros << 1 | 1)
  }

  @inline(__always)
  private static func amount(_ reader: inout ByteReader) -> Amount {
    let value = reader.signed()
    return Amount(micros: value & 1 == 0 ? (value >> 1) &* 10_000 : value >> 1)
  }

  /// Writes the distance from the event's time, in seconds when it is whole ones, as most are;
  /// absurd times wrap around, and back.
  @inline(__always)
  private static func put(_ instant: Instant?, of event: Event, to writer: inout ByteWriter) {
    guard let instant else { return }
    let distance = instant.milliseconds &- event.time.milliseconds
    writer.put(isWhole(instant, of: event) ? distance / 1000 : distance)
  }

  @inline(__always)
  private static func isWhole(_ instant: Instant, of event: Event) -> Bool {
    (instant.milliseconds &- event.time.milliseconds) % 1000 == 0
  }

  @inline(__always)
  private static func instant(
    _ reader: inout ByteReader, _ flags: UInt64, _ flag: UInt64, _ event: Event
  ) -> Instant? {
    guard flags & flag != 0 else { return nil }
    let isFiner = flags & Flag.finer(flag) != 0
    let distance = isFiner ? reader.signed() : reader.signed() &* 1000
    return Instant(milliseconds: event.time.milliseconds &+ distance)
  }

  @inline(__always)
  private static func int32(_ reader: inout ByteReader) -> Int32 {
    Int32(truncatingIfNeeded: reader.signed())
  }
}
