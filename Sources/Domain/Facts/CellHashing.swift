// How the keys of cells are hashed.
//
// A fold looks up about ten cells per event, and the library's hash takes longer for each field
// than the rest of the look-up: most fields are packed into words first. Fields overlap only at
// values they hardly reach; all that matters is that equal keys have equal hashes.

extension ProductKey {
  /// Hashes the key as one word, in which fields overlap only beyond a million apps.
  public func hash(into hash: inout Hasher) {
    hash.combine(
      UInt64(UInt32(bitPattern: product)) << 32 ^ UInt64(UInt32(bitPattern: app)) << 12
        ^ UInt64(store.rawValue) << 4 ^ UInt64(provider.rawValue))
  }
}

extension RevenueKey {
  /// Hashes the key as three words.
  public func hash(into hash: inout Hasher) {
    let kinds =
      UInt64(productType.rawValue) << 16 ^ UInt64(chargeKind.rawValue) << 8
      ^ UInt64(basis.rawValue)
    let places =
      UInt64(UInt32(bitPattern: country)) << 32 ^ UInt64(UInt32(bitPattern: storefront)) << 16
      ^ UInt64(UInt32(bitPattern: currency))
    hash.combine(UInt64(UInt32(bitPattern: day.number)) << 32 ^ kinds)
    hash.combine(productKey)
    hash.combine(places ^ UInt64(bitPattern: rate?.micros ?? -1) << 8)
  }
}
