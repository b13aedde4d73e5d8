internal import Domain

/// The layout of a snapshot's entitlements in `snapshot_content.body`.
///
/// The layout's number, then lists as a count and their elements, and fields in the order of their
/// types, as `ByteWriter` writes them.
enum SnapshotCoding {
  private static let layout: UInt64 = 1

  /// Returns the key of a content: the upper half is from the user's key, so that contents are in
  /// the order of their snapshots; the lower half is from the content's fingerprint.
  static func key(ofUser user: Int64, _ fingerprint: Int64) -> Int64 {
    user & ~0xffff_ffff | fingerprint & 0xffff_ffff
  }

  static func encode(_ entitlements: [Entitlement]) -> [UInt8] {
    var writer = ByteWriter()
    writer.put(unsigned: layout)
    writer.put(unsigned: UInt64(entitlements.count))
    for entitlement in entitlements { put(entitlement, to: &writer) }
    return writer.bytes
  }

  /// Decodes entitlements; nil when `encode` did not write the bytes.
  static func decode(_ bytes: UnsafeRawBufferPointer) -> [Entitlement]? {
    var reader = ByteReader(bytes)
    guard reader.unsigned() == layout else { return nil }
    let entitlements = list(&reader, entitlement)
    return reader.isSound && reader.isAtEnd ? entitlements : nil
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
    for instant in [
      entitlement.autoRenewOffAt, entitlement.trialStartedAt, entitlement.firstPurchasedAt,
      entitlement.lastPurchasedAt,
    ] {
      writer.put(optional: instant?.milliseconds)
    }
    writer.put(Int64(entitlement.hasOfferCode ? 1 : 0))
    writer.put(unsigned: UInt64(entitlement.transactions.count))
    for index in entitlement.transactions.indices {
      put(entitlement.transactions[index], to: &writer)
    }
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

  private static func entitlement(_ reader: inout ByteReader) -> Entitlement {
    var entitlement = Entitlement(id: reader.string())
    entitlement.product = reader.string()
    entitlement.isActive = reader.optional().map { $0 != 0 }
    entitlement.startedAt = reader.optional().map(Instant.init(milliseconds:))
    entitlement.expiresAt = reader.optional().map(Instant.init(milliseconds:))
    entitlement.renewState = reader.optional().flatMap {
      RenewState(rawValue: Int8(truncatingIfNeeded: $0))
    }
    entitlement.renewsCount = reader.optional().map(Int32.init(truncatingIfNeeded:))
    entitlement.store = reader.value(Store.self, else: .unknown)
    entitlement.grant = reader.value(GrantType.self, else: .purchase)
    entitlement.isTrial = reader.optional().map { $0 != 0 }
    entitlement.autoRenewOffAt = reader.optional().map(Instant.init(milliseconds:))
    entitlement.trialStartedAt = reader.optional().map(Instant.init(milliseconds:))
    entitlement.firstPurchasedAt = reader.optional().map(Instant.init(milliseconds:))
    entitlement.lastPurchasedAt = reader.optional().map(Instant.init(milliseconds:))
    entitlement.hasOfferCode = reader.signed() != 0
    var last = SnapshotTransaction(id: "", originalID: "")
    entitlement.transactions = list(&reader) { reader in
      last = transaction(&reader, like: last)
      return last
    }
    return entitlement
  }

  private static func transaction(
    _ reader: inout ByteReader, like last: SnapshotTransaction
  ) -> SnapshotTransaction {
    var transaction = SnapshotTransaction(
      id: reader.string(), originalID: reader.string(like: last.originalID))
    transaction.kind = reader.value(SnapshotTransactionKind.self, else: .unknown)
    transaction.product = reader.string(like: last.product)
    transaction.at = reader.optional().map(Instant.init(milliseconds:))
    transaction.expiresAt = reader.optional().map(Instant.init(milliseconds:))
    transaction.revokedAt = reader.optional().map(Instant.init(milliseconds:))
    transaction.environment = reader.value(Environment.self, else: .production)
    transaction.ownership = reader.value(Ownership.self, else: .owner)
    return transaction
  }

  /// Reads as many elements as the count before them, at most as many as fit into the bytes.
  private static func list<Element>(
    _ reader: inout ByteReader, _ element: (inout ByteReader) -> Element
  ) -> [Element] {
    let count = reader.unsigned()
    var elements: [Element] = []
    elements.reserveCapacity(Int(min(count, 8)))
    while elements.count < count, reader.isSound { elements.append(element(&reader)) }
    return elements
  }
}
