import Domain

/// One purchase as iaptic's collections hold it: the last transaction of a product.
struct IapticPurchase: Sendable {
  var product: Int
  var transaction: TransactionNumber
  var purchasedAt: Int64
  var renewedAt: Int64
  var expires: Int64?
  var isExpired = false
  /// When the user switched auto-renew off; nil while it is on.
  var lapsesSince: Int64?
  /// The reason of a cancel or an end; empty for neither.
  var reason = ""
  var isInBillingRetry = false
  var isTrial = false
  var isIntro = false
  /// The charge; nil for a trial.
  var paid: Money?
}

extension CustomerSimulation {
  /// All purchases of the user at `time`, the last of each product, in the order of products.
  ///
  /// Charges before the archives begin were made before iaptic was in use.
  func collection(at time: Int64, _ span: TimeSpan) -> [IapticPurchase] {
    var held: [Int: IapticPurchase] = [:]
    for subscription in subscriptions {
      let start = subscription.trial?.start ?? subscription.periods.first?.start ?? time
      if let trial = subscription.trial, (span.start...time).contains(trial.start) {
        held[trial.product] = purchase(trial, isTrial: true, from: trial.start, at: time, span)
      }
      for period in subscription.periods
      where period.charge.time >= span.start && period.charge.time <= time {
        for (product, other) in held where product != period.charge.product && !other.isExpired {
          held[product] = replaced(other)
        }
        held[period.charge.product] = purchase(period, from: start, at: time, span)
      }
    }
    // Refunded purchases are missing from the collections of the first years.
    if person.shop.isOriginalIaptic {
      for period in paidPeriods {
        guard let gone = period.revokedAt, gone <= time else { continue }
        if held[period.charge.product]?.transaction == period.charge.transaction {
          held[period.charge.product] = nil
        }
      }
    }
    for charge in purchases where charge.time <= time {
      let isGone = charge.wholeRefundAt.map { $0 <= time } ?? false
      guard !isGone || !person.shop.isOriginalIaptic else { continue }
      held[charge.product] = IapticPurchase(
        product: charge.product, transaction: charge.transaction, purchasedAt: charge.time,
        renewedAt: charge.time, reason: isGone ? "Customer" : "", paid: charge.gross)
    }
    return held.keys.sorted().compactMap { held[$0] }
  }

  private func replaced(_ purchase: IapticPurchase) -> IapticPurchase {
    var replaced = purchase
    replaced.isExpired = true
    replaced.reason = "System.Replaced"
    return replaced
  }

  /// The purchase of a period of a subscription that began at `start`.
  private func purchase(
    _ period: AccessPeriod, isTrial: Bool = false, from start: Int64, at time: Int64,
    _ span: TimeSpan
  ) -> IapticPurchase {
    let known = period.known(at: time)
    let isRetrying = known.billingIssueAt != nil
    let hasFailed = known.gaveUpAt != nil || known.hasExpired && isRetrying
    var purchase = IapticPurchase(
      product: period.product, transaction: period.charge.transaction, purchasedAt: start,
      renewedAt: period.start, expires: period.end, isTrial: isTrial,
      paid: isTrial ? nil : period.charge.gross)
    purchase.isIntro = period.charge.kind == .first && period.charge.isOffer
    purchase.lapsesSince = known.canceledAt
    purchase.isExpired = hasFailed || known.revokedAt != nil || known.hasExpired
    purchase.isInBillingRetry = isRetrying && !hasFailed
    if hasFailed {
      purchase.reason = "System.BillingError"
    } else if known.revokedAt != nil {
      purchase.reason = "Customer"
    } else if known.canceledAt != nil {
      let isRefusal = reportedReason(of: period, span) == .priceIncrease
      let own = person.noise % 3 == 0 ? "Customer.Cost" : "Customer"
      purchase.reason = isTrial ? "Customer" : isRefusal ? "Customer.PriceIncrease" : own
    } else if known.hasExpired {
      purchase.reason = "Unknown"
    }
    return purchase
  }
}
