import Domain

/// Finds the charges of refunds.
///
/// Reads each booking once, and only when the first refund needs it: most subscriptions have no
/// refund, and some have thousands.
struct ChargeIndex {
  private var readCount = 0
  private var latest: [ChargeKey: Int] = [:]
  /// Charges of each product in order; those at the end may have been refunded since.
  private var charges: [StringID: [Int]] = [:]
  /// The refunded charges read so far, and whether one refund refunded each completely.
  private(set) var refunded: [Int: Bool] = [:]

  /// The latest charge so far with the transaction id of `event`.
  ///
  /// Without an id, it is the latest charge of the product that was not refunded yet; where
  /// original ids are stable, only if that charge has no id either.
  mutating func charge(refundedBy event: Event, among bookings: [Booking]) -> Int? {
    read(bookings)
    guard event.transaction == 0 else {
      if let left = event.productLeft { return latest[ChargeKey(event.transaction, of: left)] }
      return latest[event.chargeOfStore] ?? latest[ChargeKey(event.transaction)]
    }
    let product = event.productLeft ?? event.product
    guard product != 0 else { return nil }
    while let last = charges[product]?.last, refunded[last] != nil {
      charges[product]?.removeLast()
    }
    return charges[product]?.last.flatMap {
      event.provider.capabilities.hasStableOriginalID && bookings[$0].transaction != 0 ? nil : $0
    }
  }

  private mutating func read(_ bookings: [Booking]) {
    for index in readCount..<bookings.count {
      let booking = bookings[index]
      guard !booking.isRefund else {
        if let charge = booking.refundedCharge {
          refunded[charge] = booking.isWhole || refunded[charge] == true
        }
        continue
      }
      latest[ChargeKey(booking.transaction)] = index
      latest[ChargeKey(booking.transaction, of: booking.product)] = index
      charges[booking.product, default: []].append(index)
    }
    readCount = bookings.count
  }
}

/// A charge by its transaction; for the refunded rest of a previous product also by that product,
/// because that refund may have the id of the charge for the new product.
struct ChargeKey: Hashable {
  let transaction: Int64
  let product: StringID

  init(_ transaction: Int64, of product: StringID = 0) {
    self.transaction = transaction
    self.product = product
  }

  /// The charge that `event` refunds or revokes; nil when it names none.
  init?(takenBackBy event: Event) {
    guard event.transaction != 0, event.isRefundBooking || event.kind == .revoked else {
      return nil
    }
    if event.kind.isProductChange, event.productLeft == nil { return nil }
    self.init(event.transaction, of: event.productLeft ?? 0)
  }
}
