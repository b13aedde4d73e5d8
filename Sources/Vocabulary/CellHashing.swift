// How the keys of cells are hashed.
//
// A fold looks up about ten cells for every event, and the hash that the compiler makes mixes each
// field by itself. Packed into words first, a key takes a third of that time. Fields overlap where
// they can hardly grow into each other; what matters is that equal keys have equal hashes.

extension Offering {
  /// Provider, store and product: an app tells nothing that its products do not.
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
  /// Mixes the key in as three words.
  public func hash(into hasher: inout Hasher) {
    let kinds =
      UInt64(productType.rawValue) << 16 ^ UInt64(chargeKind.rawValue) << 8
      ^ UInt64(basis.rawValue)
    let places =
      UInt64(UInt32(bitPattern: country)) << 32 ^ UInt64(UInt32(bitPattern: storefront)) << 16
      ^ UInt64(UInt32(bitPattern: currency))
    hasher.combine(day.packed ^ kinds)
    hasher.combine(offering.packed)
    hasher.combine(places ^ UInt64(bitPattern: rate?.micros ?? -1) << 8)
  }
}

extension MovementKey {
  /// Mixes the key in as two words.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(month.packed ^ UInt64(movement.rawValue))
    hasher.combine(offering.packed)
  }
}

extension RenewalKey {
  /// Mixes the key in as two words.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(month.packed ^ UInt64(UInt32(bitPattern: ordinal ?? -1)))
    hasher.combine(offering.packed)
  }
}

extension OfferingDay {
  /// Mixes the key in as two words.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(day.packed)
    hasher.combine(offering.packed)
  }
}

extension RetentionKey {
  /// Mixes the key in as two words.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(
      cohort.packed ^ UInt64(UInt32(bitPattern: index)))
    hasher.combine(offering.packed)
  }
}

extension ArrivalKey {
  /// Mixes the key in as one word.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(day.packed ^ UInt64(provider.rawValue) << 8 ^ UInt64(kind.rawValue))
  }
}
