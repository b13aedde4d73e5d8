import Domain

/// The purchases after a purchase, as far as one state report each gives the charge time.
struct Successors {
  /// When the next purchase of something that renews was made.
  var first: Instant?
  /// When the next one under the same transaction id was.
  var ofItsID: Instant?
}

extension [Purchase] {
  var successors: [Successors] {
    var first: Instant?
    var byID: [TransactionOfLineage: Instant] = [:]
    var found: [Successors] = []
    found.reserveCapacity(count)
    for purchase in reversed() {
      let id = TransactionOfLineage(purchase.stateReports[0])
      found.append(Successors(first: first, ofItsID: id.transaction == 0 ? nil : byID[id]))
      guard !purchase.isOneTime else { continue }
      first = purchase.place.0
      byID[id] = purchase.place.0
    }
    return found.reversed()
  }
}
