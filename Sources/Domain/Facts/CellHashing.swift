// How the keys of cells are hashed.
//
// A fold looks up about ten cells for every event. The library's hash, SipHash, guards against
// forged keys, and takes longer than the rest of the look-up; whoever can forge products can do
// worse than slow the fold down. Tables call `_rawHashValue` of a key, which calls `hash(into:)` by
// default, so keys override it to fold as `Fingerprint` does. Packed into words first, a key needs
// one multiplication for each. Fields overlap where they can hardly grow into each other; what
// matters is that equal keys have equal hashes.

extension Fingerprint {
  /// A hash for the table with this seed, which no other table has: cells that are put from one
  /// table into another must not come in the order of their places there.
  public init(ofTable seed: Int) { self.init(seed: UInt64(bitPattern: Int64(seed))) }

  /// The hash so far, as a table wants it.
  public var place: Int { Int(truncatingIfNeeded: value) }
}

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

extension Amount {
  /// Folds the amount as one word.
  public func _rawHashValue(seed: Int) -> Int {
    var hash = Fingerprint(ofTable: seed)
    hash.combine(UInt64(bitPattern: micros))
    return hash.place
  }
}

extension RevenueKey {
  /// Folds the key as three words.
  public func _rawHashValue(seed: Int) -> Int {
    let kinds =
      UInt64(productType.rawValue) << 16 ^ UInt64(chargeKind.rawValue) << 8
      ^ UInt64(basis.rawValue)
    let places =
      UInt64(UInt32(bitPattern: country)) << 32 ^ UInt64(UInt32(bitPattern: storefront)) << 16
      ^ UInt64(UInt32(bitPattern: currency))
    var hash = Fingerprint(ofTable: seed)
    hash.combine(day.packed ^ kinds)
    hash.combine(productKey.packed)
    hash.combine(places ^ UInt64(bitPattern: rate?.micros ?? -1) << 8)
    return hash.place
  }
}

extension MovementKey {
  /// Folds the key as two words.
  public func _rawHashValue(seed: Int) -> Int {
    var hash = Fingerprint(ofTable: seed)
    hash.combine(month.packed ^ UInt64(movement.rawValue))
    hash.combine(productKey.packed)
    return hash.place
  }
}

extension RenewalKey {
  /// Folds the key as two words.
  public func _rawHashValue(seed: Int) -> Int {
    var hash = Fingerprint(ofTable: seed)
    hash.combine(month.packed ^ UInt64(UInt32(truncatingIfNeeded: ordinal ?? -1)))
    hash.combine(productKey.packed)
    return hash.place
  }
}

extension ProductDay {
  /// Folds the key as two words.
  public func _rawHashValue(seed: Int) -> Int {
    var hash = Fingerprint(ofTable: seed)
    hash.combine(day.packed)
    hash.combine(productKey.packed)
    return hash.place
  }
}

extension RetentionKey {
  /// Folds the key as two words.
  public func _rawHashValue(seed: Int) -> Int {
    var hash = Fingerprint(ofTable: seed)
    hash.combine(cohort.packed ^ UInt64(UInt32(bitPattern: index)))
    hash.combine(productKey.packed)
    return hash.place
  }
}

extension ArrivalKey {
  /// Folds the key as one word.
  public func _rawHashValue(seed: Int) -> Int {
    var hash = Fingerprint(ofTable: seed)
    hash.combine(day.packed ^ UInt64(provider.rawValue) << 8 ^ UInt64(kind.rawValue))
    return hash.place
  }
}

extension CoverageKey {
  /// Folds the key as one word.
  public func _rawHashValue(seed: Int) -> Int {
    var hash = Fingerprint(ofTable: seed)
    let feed = UInt64(UInt32(bitPattern: app)) << 12 ^ UInt64(provider.rawValue)
    hash.combine(day.packed ^ feed ^ UInt64(gap.rawValue) << 6 ^ UInt64(hour) << 27)
    return hash.place
  }
}
