import Domain

/// What two lines share exactly when they tell of the same event (contract §3).
struct EventIdentity {
  /// Fingerprint of the app id; 0 when unknown.
  var app: Int64
  /// Key of the lineage, which stands in for a missing transaction id.
  var lineage: Int64
  var transaction: UnsafeRawBufferPointer
  var user: UnsafeRawBufferPointer
  var product: UnsafeRawBufferPointer
  /// The provider's own name, which tells apart events of an unknown kind.
  var name: UnsafeRawBufferPointer
  /// What else tells two events apart, such as a hash of the state; 0 when nothing does.
  var mark: Int64 = 0

  /// The fingerprint for `event`, of which provider, environment, store, kind and time are set.
  ///
  /// Inlined, since handing over an event would copy all of it.
  @inline(__always)
  func fingerprint(of event: Event) -> Int64 {
    var fingerprint = Fingerprint(seed: 2)
    fingerprint.combine(
      UInt64(event.provider.rawValue) | UInt64(event.environment.rawValue) << 8
        | UInt64(event.store.rawValue) << 16 | UInt64(event.kind.rawValue) << 24)
    fingerprint.combine(UInt64(bitPattern: app))
    fingerprint.combine(UInt64(bitPattern: event.time.milliseconds))
    fingerprint.combine(transaction)
    if transaction.isEmpty {
      fingerprint.combine(UInt64(bitPattern: lineage))
      fingerprint.combine(user)
      fingerprint.combine(product)
    }
    if event.kind == .other { fingerprint.combine(name) }
    if mark != 0 { fingerprint.combine(UInt64(bitPattern: mark)) }
    return fingerprint.value
  }
}
