import Formats
import Domain

/// What a Qonversion body says, checked, before anything of it is kept.
///
/// Bytes point into the line: a body lives no longer than its tape's value.
struct QonversionBody {
  var name = UnsafeRawBufferPointer.none
  var kind = EventKind.other
  var user = UnsafeRawBufferPointer.none
  var time = Instant(milliseconds: 0)
  var created: Instant?
  var environment = Environment.production
  var store = Store.unknown
  var app = UnsafeRawBufferPointer.none
  /// Fingerprint of the project, where the body names no app; else 0.
  var project: Int64 = 0
  var product = UnsafeRawBufferPointer.none
  var previousProduct = UnsafeRawBufferPointer.none
  var country = UnsafeRawBufferPointer.none
  var storefront = UnsafeRawBufferPointer.none
  var transaction = UnsafeRawBufferPointer.none
  var original = UnsafeRawBufferPointer.none
  var periodStart: Instant?
  var periodEnd: Instant?
  var graceEnd: Instant?
  var entitledUntil: Instant?
  var revenue: QonversionMoney?
  var price: QonversionMoney?
  var renewalCount: Int32?
  var roundedAmounts: Int64 = 0

  /// What stands in for the original transaction id of bodies of 2020, which have no transaction.
  var userAndProduct: [UInt8] { originalID(ofUser: user, product: product) }

  /// A charge or refund with money that does not say whether the money is price or proceeds.
  var lacksIsProceed: Bool {
    guard let revenue, revenue.isProceed == nil else { return false }
    return kind.chargeKind != nil || kind.isRefund || kind.isProductChange
  }
}

/// A `revenue` or `price` object.
struct QonversionMoney {
  var local: Amount?
  var usd: Amount?
  var currency = UnsafeRawBufferPointer.none
  var isProceed: Bool?
  var rate: Amount?
}
