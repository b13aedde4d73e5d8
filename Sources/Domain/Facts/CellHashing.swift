// How the keys of cells are hashed.
//
// A fold looks up about ten cells for every event, and the library's hash takes longer for each
// field than the rest of the look-up: fields are packed into words first. They overlap where they
// can hardly grow into each other; what matters is that equal keys have equal hashes.

extension ProductKey {
  /// Provider, app, store and product, which overlap only beyond a million apps.
  var packed: UInt64 {
    UInt64(UInt32(bitPattern: product)) << 32 ^ UInt64(UInt32(bitPattern: app)) << 12
      ^ UInt64(store.rawValue) << 4 ^ UInt64(provider.rawValue)
  }
}

extension Day {
  var packed: UInt64 { UInt64(UInt32(bitPattern: number)) << 32 }
}

extension Month {
  var packed: UInt64 { UInt64(UInt32(bitPattern: number)) << 32 }
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
    hash.combine(day.packed ^ kinds)
    hash.combine(productKey.packed)
    hash.combine(places ^ UInt64(bitPattern: rate?.micros ?? -1) << 8)
  }
}

extension MovementKey {
  /// Hashes the key as two words.
  public func hash(into hash: inout Hasher) {
    hash.combine(month.packed ^ UInt64(movement.rawValue))
    hash.combine(productKey.packed)
  }
}

extension RenewalKey {
  /// Hashes the key as two words.
  public func hash(into hash: inout Hasher) {
    hash.combine(month.packed ^ UInt64(UInt32(truncatingIfNeeded: ordinal ?? -1)))
    hash.combine(productKey.packed)
  }
}

extension ProductDay {
  /// Hashes the key as two words.
  public func hash(into hash: inout Hasher) {
    hash.combine(day.packed)
    hash.combine(productKey.packed)
  }
}

extension RetentionKey {
  /// Hashes the key as two words.
  public func hash(into hash: inout Hasher) {
    hash.combine(cohort.packed ^ UInt64(UInt32(bitPattern: index)))
    hash.combine(productKey.packed)
  }
}

extension ArrivalKey {
  /// Hashes the key as one word.
  public func hash(into hash: inout Hasher) {
    hash.combine(day.packed ^ UInt64(provider.rawValue) << 8 ^ UInt64(kind.rawValue))
  }
}

extension CoverageKey {
  /// Hashes the key as one word.
  public func hash(into hash: inout Hasher) {
    let feed = UInt64(UInt32(bitPattern: app)) << 12 ^ UInt64(provider.rawValue)
    hash.combine(day.packed ^ feed ^ UInt64(gap.rawValue) << 6 ^ UInt64(hour) << 27)
  }
}
