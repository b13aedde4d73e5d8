import Domain

/// A charge or a refund with the row it is booked in.
struct Booking: Sendable {
  /// Index of its event in business order.
  var event: Int
  var time: Instant
  var transaction: Int64
  /// For a refund: index of the charge it refunds, when the ledger has it.
  var refundedCharge: Int?
  var isRefund: Bool
  var productType: ProductType
  var chargeKind: ChargeKind
  var product: StringID
  var money: Money
  /// For a refund: whether it gives the whole charge back.
  var isWhole = false
  var country: StringID
  var storefront: StringID
  var currency: StringID

  var isOfSubscription: Bool { !isRefund && chargeKind != .oneTime }
}

/// Gross and proceeds of one booking, positive, with their basis; nil means unknown.
struct Money: Sendable, Equatable {
  var grossUSD: Amount?
  var proceedsUSD: Amount?
  var grossLocal: Amount?
  var proceedsLocal: Amount?
  /// Percent that stays after commission.
  var rate: Amount?
  var basis = AmountBasis.none
}
