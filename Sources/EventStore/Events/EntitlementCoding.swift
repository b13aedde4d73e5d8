internal import Domain

/// The layout of a webhook's entitlements in the content of its event (EventCoding.swift).
///
/// For each entitlement: the product as a symbol, which replaces the entitlement's name; bits for
/// the fields that were sent; store, grant, renewal state; and start and end as distances from the
/// event in seconds.
enum EntitlementCoding {
  private enum Flag {
    static let hasActive: UInt8 = 1
    static let isActive: UInt8 = 2
    static let hasTrial: UInt8 = 4
    static let isTrial: UInt8 = 8
    static let startedAt: UInt8 = 16
    static let expiresAt: UInt8 = 32
    static let renewState: UInt8 = 64
  }

  /// Encodes the entitlements that arrived with an event of `time`.
  static func encode(
    _ entitlements: [Entitlement], at time: Instant, symbol: (String) -> StringID
  ) -> [UInt8] {
    var writer = ByteWriter()
    for entitlement in entitlements {
      writer.put(Int64(symbol(entitlement.product)))
      writer.put(byte: flags(entitlement))
      writer.put(Int64(entitlement.store.rawValue))
      writer.put(Int64(entitlement.grant.rawValue))
      if let state = entitlement.renewState { writer.put(Int64(state.rawValue)) }
      for instant in [entitlement.startedAt, entitlement.expiresAt] {
        if let instant { writer.put(instant.since(time).milliseconds / 1000) }
      }
    }
    return writer.bytes
  }

  /// Decodes entitlements, with the ledger's words; nil if `encode` did not write the bytes.
  static func decode(
    _ bytes: UnsafeRawBufferPointer, at time: Instant, words: [String]
  ) -> [Entitlement]? {
    var reader = ByteReader(bytes)
    var entitlements: [Entitlement] = []
    while !reader.isAtEnd, reader.isSound {
      guard let product = Int(exactly: reader.signed()), words.indices.contains(product) else {
        return nil
      }
      var entitlement = Entitlement(id: words[product])
      entitlement.product = entitlement.id
      let flags = reader.byte()
      func has(_ flag: UInt8) -> Bool { flags & flag != 0 }
      entitlement.isActive = has(Flag.hasActive) ? has(Flag.isActive) : nil
      entitlement.isTrial = has(Flag.hasTrial) ? has(Flag.isTrial) : nil
      entitlement.store = reader.value(Store.self, else: .unknown)
      entitlement.grant = reader.value(GrantType.self, else: .purchase)
      if has(Flag.renewState) {
        entitlement.renewState = reader.value(RenewState.self, else: .unknown)
      }
      if has(Flag.startedAt) { entitlement.startedAt = instant(&reader, from: time) }
      if has(Flag.expiresAt) { entitlement.expiresAt = instant(&reader, from: time) }
      entitlements.append(entitlement)
    }
    return reader.isSound ? entitlements : nil
  }

  /// Absurd distances wrap around.
  private static func instant(_ reader: inout ByteReader, from time: Instant) -> Instant {
    Instant(milliseconds: time.milliseconds &+ reader.signed() &* 1000)
  }

  private static func flags(_ entitlement: Entitlement) -> UInt8 {
    var flags: UInt8 = 0
    if let isActive = entitlement.isActive {
      flags |= Flag.hasActive | (isActive ? Flag.isActive : 0)
    }
    if let isTrial = entitlement.isTrial { flags |= Flag.hasTrial | (isTrial ? Flag.isTrial : 0) }
    if entitlement.startedAt != nil { flags |= Flag.startedAt }
    if entitlement.expiresAt != nil { flags |= Flag.expiresAt }
    if entitlement.renewState != nil { flags |= Flag.renewState }
    return flags
  }
}
