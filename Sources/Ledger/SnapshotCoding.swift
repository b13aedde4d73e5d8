internal import Vocabulary

/// How the entitlements of a snapshot lie in `snapshot_content.body`.
///
/// One byte with the layout's number, then lists as a count and their elements, and fields in the
/// order of their types. Integers are zigzag LEB128 (as in Protocol Buffers' `sint64`), texts
/// their length and UTF-8 bytes, optional values one byte 0 or 1 before them.
enum SnapshotCoding {
  private static let layout: Int64 = 1

  static func encode(_ entitlements: [Entitlement]) -> [UInt8] {
    var writer = ByteWriter()
    writer.put(layout)
    writer.put(Int64(entitlements.count))
    for entitlement in entitlements { put(entitlement, to: &writer) }
    return writer.bytes
  }

  /// Nil when the bytes are none that `encode` makes.
  static func decode(_ bytes: [UInt8]) -> [Entitlement]? {
    var reader = ByteReader(bytes: bytes)
    guard reader.number() == layout, let count = reader.number() else { return nil }
    var entitlements: [Entitlement] = []
    for _ in 0..<max(0, count) {
      guard let entitlement = entitlement(from: &reader) else { return nil }
      entitlements.append(entitlement)
    }
    return reader.isAtEnd ? entitlements : nil
  }

  private static func put(_ entitlement: Entitlement, to writer: inout ByteWriter) {
    writer.put(entitlement.id)
    writer.put(entitlement.product)
    writer.put(optional: entitlement.isActive.map { $0 ? 1 : 0 })
    writer.put(optional: entitlement.startedAt?.milliseconds)
    writer.put(optional: entitlement.expiresAt?.milliseconds)
    writer.put(optional: entitlement.renewState.map { Int64($0.rawValue) })
    writer.put(optional: entitlement.renewsCount.map(Int64.init))
    writer.put(Int64(entitlement.store.rawValue))
    writer.put(Int64(entitlement.grant.rawValue))
    writer.put(optional: entitlement.isTrial.map { $0 ? 1 : 0 })
    writer.put(entitlement.listsTransactions ? 1 : 0)
    writer.put(Int64(entitlement.transactions.count))
    for transaction in entitlement.transactions { put(transaction, to: &writer) }
  }

  private static func put(_ transaction: SnapshotTransaction, to writer: inout ByteWriter) {
    writer.put(transaction.id)
    writer.put(transaction.originalID)
    writer.put(Int64(transaction.kind.rawValue))
    writer.put(transaction.product)
    writer.put(optional: transaction.at?.milliseconds)
    writer.put(optional: transaction.expiresAt?.milliseconds)
    writer.put(optional: transaction.revokedAt?.milliseconds)
    writer.put(Int64(transaction.environment.rawValue))
    writer.put(Int64(transaction.ownership.rawValue))
  }

  private static func entitlement(from reader: inout ByteReader) -> Entitlement? {
    guard let id = reader.text(), let product = reader.text(),
      let isActive = reader.optional(), let startedAt = reader.optional(),
      let expiresAt = reader.optional(), let renewState = reader.optional(),
      let renewsCount = reader.optional(),
      let store = reader.number().flatMap({ Store(rawValue: UInt8(truncatingIfNeeded: $0)) }),
      let grant = reader.number().flatMap({ GrantType(rawValue: UInt8(truncatingIfNeeded: $0)) }),
      let isTrial = reader.optional(), let listsTransactions = reader.number(),
      let count = reader.number()
    else { return nil }
    var entitlement = Entitlement(
      id: id, product: product, isActive: isActive.value.map { $0 != 0 },
      startedAt: startedAt.value.map(Instant.init(milliseconds:)),
      expiresAt: expiresAt.value.map(Instant.init(milliseconds:)),
      renewState: renewState.value.flatMap { RenewState(rawValue: Int8(truncatingIfNeeded: $0)) },
      renewsCount: renewsCount.value.map(Int32.init(truncatingIfNeeded:)), store: store,
      grant: grant, isTrial: isTrial.value.map { $0 != 0 },
      listsTransactions: listsTransactions != 0)
    for _ in 0..<max(0, count) {
      guard let transaction = transaction(from: &reader) else { return nil }
      entitlement.transactions.append(transaction)
    }
    return entitlement
  }

  private static func transaction(from reader: inout ByteReader) -> SnapshotTransaction? {
    guard let id = reader.text(), let originalID = reader.text(),
      let kind = reader.number().flatMap({
        SnapshotTransactionKind(rawValue: UInt8(truncatingIfNeeded: $0))
      }),
      let product = reader.text(), let at = reader.optional(),
      let expiresAt = reader.optional(), let revokedAt = reader.optional(),
      let environment = reader.number().flatMap({
        Environment(rawValue: UInt8(truncatingIfNeeded: $0))
      }),
      let ownership = reader.number().flatMap({
        Ownership(rawValue: UInt8(truncatingIfNeeded: $0))
      })
    else { return nil }
    return SnapshotTransaction(
      id: id, originalID: originalID, kind: kind, product: product,
      at: at.value.map(Instant.init(milliseconds:)),
      expiresAt: expiresAt.value.map(Instant.init(milliseconds:)),
      revokedAt: revokedAt.value.map(Instant.init(milliseconds:)), environment: environment,
      ownership: ownership)
  }
}

private struct ByteWriter {
  var bytes: [UInt8] = []

  mutating func put(_ value: Int64) {
    var rest = UInt64(bitPattern: value << 1 ^ value >> 63)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func put(optional value: Int64?) {
    bytes.append(value == nil ? 0 : 1)
    if let value { put(value) }
  }

  mutating func put(_ text: String) {
    put(Int64(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }
}

/// What was read where a value may be absent.
private struct Absentable {
  let value: Int64?
}

private struct ByteReader {
  let bytes: [UInt8]
  private var offset = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { offset == bytes.count }

  mutating func byte() -> UInt8? {
    guard offset < bytes.count else { return nil }
    defer { offset += 1 }
    return bytes[offset]
  }

  mutating func number() -> Int64? {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), through: 63, by: 7) {
      guard let next = byte() else { return nil }
      value |= UInt64(next & 0x7f) << shift
      if next < 0x80 { return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1) }
    }
    return nil
  }

  mutating func optional() -> Absentable? {
    guard let flag = byte(), flag <= 1 else { return nil }
    if flag == 0 { return Absentable(value: nil) }
    return number().map { Absentable(value: $0) }
  }

  mutating func text() -> String? {
    guard let count = number(), count >= 0, count <= bytes.count - offset else { return nil }
    defer { offset += Int(count) }
    return String(decoding: bytes[offset..<offset + Int(count)], as: UTF8.self)
  }
}
