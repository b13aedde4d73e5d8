internal import Domain

/// The entitlements in `snapshot_content.body`, and in the contents of events.
enum SnapshotCoding {
  /// Returns the key of a content: the upper half is from the user's key, so that contents are in
  /// the order of their snapshots; the lower half is from the content's fingerprint.
  static func key(ofUser user: Int64, _ fingerprint: Int64) -> Int64 {
    user & ~0xffff_ffff | fingerprint & 0xffff_ffff
  }

  static func encode(_ entitlements: [Entitlement]) -> [UInt8] {
    var (writer, entitlements) = (ByteWriter(), entitlements)
    writer.code(&entitlements, first: Entitlement(id: ""))
    return writer.bytes
  }

  /// Decodes entitlements; nil when `encode` did not write the bytes.
  static func decode(_ bytes: UnsafeRawBufferPointer) -> [Entitlement]? {
    var (reader, entitlements): (ByteReader, [Entitlement]) = (ByteReader(bytes), [])
    reader.code(&entitlements, first: Entitlement(id: ""))
    return reader.isSound && reader.isAtEnd ? entitlements : nil
  }
}

extension Entitlement: FieldRecord {
  mutating func code<Coder: FieldCoder>(by coder: inout Coder) {
    coder.code(&id)
    coder.code(&product)
    coder.code(&store)
    coder.code(&grant)
    coder.code(&isActive)
    coder.code(&startedAt)
    coder.code(&expiresAt)
    coder.optional(&renewState, .unknown) { $1.code(&$0) }
    coder.optional(&renewsCount, 0) { $1.code(&$0) }
    coder.code(&isTrial)
    coder.code(&autoRenewOffAt)
    coder.code(&trialStartedAt)
    coder.code(&firstPurchasedAt)
    coder.code(&lastPurchasedAt)
    coder.bit(&hasOfferCode)
    coder.code(&transactions, first: SnapshotTransaction(id: "", originalID: ""))
  }

  /// The fields that are certain in a webhook, under the product's id.
  var ofWebhook: Entitlement {
    var shown = Entitlement(id: product)
    (shown.product, shown.store, shown.grant) = (product, store, grant)
    (shown.isActive, shown.isTrial, shown.renewState) = (isActive, isTrial, renewState)
    (shown.startedAt, shown.expiresAt) = (startedAt, expiresAt)
    return shown
  }
}

extension SnapshotTransaction: FieldRecord {
  mutating func code<Coder: FieldCoder>(by coder: inout Coder) {
    coder.code(&id)
    coder.code(&originalID)
    coder.code(&kind)
    coder.code(&product)
    coder.code(&price)
    coder.code(&currency)
    coder.code(&at)
    coder.code(&expiresAt)
    coder.code(&revokedAt)
    coder.code(&environment)
    coder.code(&grant)
  }
}
