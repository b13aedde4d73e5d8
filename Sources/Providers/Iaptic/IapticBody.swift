import Domain

/// Why iaptic sent a body.
struct IapticNotification {
  /// Empty in bodies of the first years.
  var reason = UnsafeRawBufferPointer.none
  var id = UnsafeRawBufferPointer.none
  var date: Instant?
  // Its subject, without platforms; empty where not sent.
  var product = IapticID(.none)
  var purchase = IapticID(.none)
  var transaction = IapticID(.none)

  var namesSubject: Bool {
    !product.text.isEmpty || !purchase.text.isEmpty || !transaction.text.isEmpty
  }

  /// The purchase it is about, although maybe another transaction of that; nil when `purchases`
  /// does not contain it.
  ///
  /// One transaction can have bought several products. Among purchases that fit equally well, the
  /// one with the first key in byte order is taken: a collection has no order.
  func subject(in purchases: [IapticPurchase]) -> Int? {
    guard namesSubject else { return purchases.count == 1 ? 0 : nil }
    let fits = purchases.map(fit)
    guard let best = fits.max(), best > 0 else { return nil }
    return purchases.indices.filter { fits[$0] == best }
      .min { purchases[$0].key.lexicographicallyPrecedes(purchases[$1].key) }
  }

  /// How well `other` fits: its transaction counts most, then its purchase.
  ///
  /// A product belongs to its store: two stores can sell products with the same id.
  private func fit(of other: IapticPurchase) -> Int {
    func fits(_ id: UnsafeRawBufferPointer, _ named: UnsafeRawBufferPointer) -> Bool {
      !named.isEmpty && id.isEqual(to: named)
    }
    let isElsewhere =
      product.store.map { other.store != .unknown && other.store != $0 } ?? false
    return (fits(other.transaction, transaction.text) ? 4 : 0)
      + (fits(other.purchase, baseOrder(purchase.text)) ? 2 : 0)
      + (!isElsewhere && fits(other.product, product.text) ? 1 : 0)
  }

  /// Whether `other` shows the reported transaction, as far as both have ids.
  ///
  /// A collection shows the state at sending: the notification can be about the refund of an older
  /// transaction, or can be late. A charge after it is another one, even under the same id; stores
  /// charge up to a day before the date that they send.
  func isShown(by other: IapticPurchase) -> Bool {
    if let date, let charged = other.state.lastChargedAt, charged > date + .days(1) {
      return false
    }
    if !transaction.text.isEmpty, !other.transaction.isEmpty {
      return transaction.text.isEqual(to: other.transaction)
    }
    return purchase.text.isEmpty || other.purchase.isEmpty
      || baseOrder(purchase.text).isEqual(to: other.purchase)
  }

  /// `other` as the reported transaction; the collection shows only its product.
  func past(of other: IapticPurchase) -> IapticPurchase {
    var past = IapticPurchase()
    past.product = product.text.isEmpty ? other.product : product.text
    past.purchase = other.purchase
    if !other.purchase.isEmpty, !purchase.text.isEmpty { past.purchase = baseOrder(purchase.text) }
    past.transaction = transaction.text
    past.store = other.store
    past.environment = other.environment
    return past
  }
}

/// The content of an iaptic body: all purchases of one user and the reason for the message.
struct IapticBody {
  var type = UnsafeRawBufferPointer.none
  var user = UnsafeRawBufferPointer.none
  var notification = IapticNotification()
  var purchases: [IapticPurchase] = []
  /// Fingerprint of the user and the current purchases.
  var state: Int64 = 0
  /// What all events have in common: the time at which the state is true, the delivery and its
  /// identity.
  ///
  /// `collection` is the same for copies, which may show another state when a message was sent
  /// again.
  var base = Event(provider: .iaptic, kind: .observed, time: Instant(milliseconds: 0))
  /// Whether that time is only the end of a period.
  var isUndated = false

  /// Whether the body is of the only type that is documented to contain purchases.
  var isUpdate: Bool { type.isWord("purchases.updated") }

  /// The purchase that the notification is about; nil if the body does not contain it.
  var subject: Int? { notification.subject(in: purchases) }

  /// Adds the notification's transaction id to the purchase that it is about, if that has none.
  mutating func nameSubject() {
    guard !notification.transaction.text.isEmpty, let subject,
      purchases[subject].transaction.isEmpty, notification.isShown(by: purchases[subject])
    else { return }
    purchases[subject].transaction = notification.transaction.text
  }

  /// The time of the body, and whether it is only the end of a period; nil if unknown.
  ///
  /// Bodies without notification have no time of their own. All their purchases get the latest time
  /// in the body: the state was true from then on.
  var time: (instant: Instant, isUndated: Bool)? {
    if let date = notification.date { return (date, false) }
    let happened = purchases.flatMap(\.pastTimes)
    let latest = happened.filter { time in base.received.map { time <= $0 } ?? true }.max()
    if let time = latest ?? base.received { return (time, false) }
    return purchases.compactMap(\.expiresAt).max().map { ($0, true) }
  }
}

extension IapticPurchase {
  /// The past times in the purchase.
  ///
  /// A purchase replaced by another product ended at the replacement, not at the end of its period.
  var pastTimes: [Instant] {
    let end = isExpired == true && !state.isReplaced ? expiresAt : nil
    return [state.firstPurchasedAt, state.lastChargedAt, state.autoRenewChangedAt, end]
      .compactMap { $0 }
  }
}
