internal import Domain

/// The layout of an event's content in its record (EventRecords.swift).
///
/// Provider, app, environment and store are stored once, in the lineage; time, identity and user
/// precede the content.
enum EventCoding {
  /// What the content contains in addition to the fields of `Event`.
  struct Parts {
    /// The transaction id, unless it is the number that is its key.
    var transaction = UnsafeRawBufferPointer(start: nil, count: 0)
    var isNumber = false
    /// Entitlements in the event's body, as encoded by `SnapshotCoding`; empty for none.
    var entitlements = UnsafeRawBufferPointer(start: nil, count: 0)

    func transaction(of event: Event) -> String {
      isNumber ? String(event.transaction) : String(decoding: transaction, as: UTF8.self)
    }

    func decodedEntitlements() throws(SubledgerError) -> [Entitlement] {
      guard !entitlements.isEmpty else { return [] }
      guard let sent = SnapshotCoding.decode(entitlements) else { throw EventRecords.damage }
      return sent
    }
  }

  /// Encodes an event that has the ledger's symbols and provenance.
  static func encode(
    _ event: Event, transaction: UnsafeRawBufferPointer, entitlements: [UInt8] = [],
    to writer: inout ByteWriter
  ) {
    entitlements.withUnsafeBytes { entitlements in
      var (event, bits) = (event, FieldBits())
      var parts = Parts(
        transaction: transaction, isNumber: Int64(plainNumber: transaction) != nil,
        entitlements: entitlements)
      code(&event, &parts, by: &bits)
      writer.put(unsigned: bits.bits)
      code(&event, &parts, by: &writer)
    }
  }

  /// Completes `event`, whose lineage, time, identity and user are set, from the bytes; returns nil
  /// if `encode` cannot have written them.
  @inline(__always)
  static func decode(_ bytes: UnsafeRawBufferPointer, into event: inout Event) -> Parts? {
    var (reader, parts) = (ByteReader(bytes), Parts())
    reader.readBits()
    code(&event, &parts, by: &reader)
    if !parts.isNumber { event.transaction = transactionKey(parts.transaction) }
    return reader.isSound && reader.isAtEnd ? parts : nil
  }

  static func hasEntitlements(_ content: UnsafeRawBufferPointer) -> Bool {
    var reader = ByteReader(content)
    return reader.unsigned() & 1 != 0
  }

  /// Passes the fields; bits of rare ones come last, so that most events need few bytes for them.
  private static func code<Coder: FieldCoder>(
    _ event: inout Event, _ parts: inout Parts, by coder: inout Coder
  ) {
    let time = event.time
    var hasEntitlements = !parts.entitlements.isEmpty
    coder.bit(&hasEntitlements)
    coder.bit(&parts.isNumber)
    if parts.isNumber { coder.code(&event.transaction) } else { coder.code(&parts.transaction) }
    coder.bit(&event.startsLineage)
    coder.code(&event.kind)
    coder.code(&event.name)
    coder.code(&event.product)
    coder.code(&event.previousProduct)
    coder.code(&event.country)
    coder.code(&event.storefront)
    coder.code(&event.created, from: time)
    coder.code(&event.periodStart, from: time)
    coder.code(&event.periodEnd, from: time)
    code(&event.revenue, &event.price, by: &coder)
    coder.optional(&event.renewalCount, 0) { $1.code(&$0) }
    coder.code(&event.received, from: time)
    coder.code(&event.graceEnd, from: time)
    coder.code(&event.entitledUntil, from: time)
    coder.optional(&event.reason, .unknown) { $1.code(&$0) }
    coder.code(&event.collection, unless: 0) { $1.code(hash: &$0) }
    coder.code(&event.offer, unless: 0) { $1.code(&$0) }
    coder.code(&event.units, unless: 1) { $1.code(&$0) }
    coder.optional(&event.observation, Observation()) { code(&$0, at: time, by: &$1) }
    if hasEntitlements {
      coder.code(&parts.entitlements)
      if parts.entitlements.isEmpty { coder.fail() }
    }
    coder.code(hash: &event.body)
    coder.code(&event.place.archive)
    coder.code(&event.place.line)
    coder.code(&event.place.byteOffset)
  }

  /// Passes the money; a price that is the revenue's amounts and currency is stored once.
  private static func code<Coder: FieldCoder>(
    _ revenue: inout Revenue?, _ price: inout Price?, by coder: inout Coder
  ) {
    coder.optional(&revenue, Revenue()) { revenue, coder in
      coder.code(&revenue.currency)
      coder.code(&revenue.local)
      coder.code(&revenue.usd)
      coder.code(&revenue.rate)
      coder.code(&revenue.isProceed)
    }
    let same = revenue.map { Price(local: $0.local, usd: $0.usd, currency: $0.currency) }
    coder.optional(&price, Price()) { price, coder in
      var isSame = price == same
      if same != nil { coder.bit(&isSame) }
      if isSame, let same { return price = same }
      coder.code(&price.currency)
      coder.code(&price.local)
      coder.code(&price.usd)
    }
  }

  private static func code<Coder: FieldCoder>(
    _ state: inout Observation, at time: Instant, by coder: inout Coder
  ) {
    coder.code(&state.group)
    coder.code(&state.firstPurchasedAt, from: time)
    coder.code(&state.lastChargedAt, from: time)
    coder.code(&state.autoRenewChangedAt, from: time)
    coder.optional(&state.productType, .subscription) { $1.code(&$0) }
    coder.code(&state.isOwned)
    coder.code(&state.isAutoRenewing)
    coder.code(&state.isInBillingRetry)
    coder.code(&state.isTrial)
    coder.bit(&state.isPending)
    coder.bit(&state.isReplaced)
    coder.bit(&state.isShared)
    coder.bit(&state.isUndated)
    coder.bit(&state.isTimeInferred)
  }
}
