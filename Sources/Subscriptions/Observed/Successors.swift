import Domain

/// What comes after a purchase of a life, as far as one sighting each tells when it was charged.
struct Successors {
  /// When the next purchase of something that renews was made.
  var first: Instant?
  /// When the next one under the same transaction id was.
  var ofItsID: Instant?
}

extension [Purchase] {
  /// What comes after each of them, which are in order.
  var successors: [Successors] {
    var first: Instant?
    var byID: [TransactionOfLineage: Instant] = [:]
    var found: [Successors] = []
    found.reserveCapacity(count)
    for purchase in reversed() {
      let id = TransactionOfLineage(purchase.sightings[0])
      found.append(Successors(first: first, ofItsID: id.transaction == 0 ? nil : byID[id]))
      guard !purchase.isOneTime else { continue }
      first = purchase.place.0
      byID[id] = purchase.place.0
    }
    return found.reversed()
  }
}
