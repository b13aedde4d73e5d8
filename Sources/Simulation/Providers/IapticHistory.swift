import Domain

extension CustomerSimulation {
  /// The customer as iaptic sends it: whole collections of purchases; one app has the reason of the
  /// call and money, the other, an integration of the first years, has neither.
  var seenByIaptic: CustomerSimulation {
    var seen = reported(by: .iaptic)
    let isOld = person.shop.isOriginalIaptic
    let isKnown = !isOld || !beganBeforeArchives
    let all = isKnown ? occurrencesSinceFirstCharge : occurrences.filter(\.isOfPurchase)
    if !isKnown { seen.subscriptions = [] }
    seen.occurrences = all.compactMap(asSentByIaptic)
    seen.expected = isOld ? seen.originalIapticHistory : seen.iapticHistory
    return seen
  }

  /// Whether something was paid or tried before the archives begin.
  ///
  /// Without dates of renewals, nothing then shows when the first covered period began.
  private var beganBeforeArchives: Bool {
    paidPeriods.contains { $0.charge.time < span.start }
      || subscriptions.contains { $0.trial.map { $0.start < span.start } ?? false }
  }

  private func asSentByIaptic(_ occurrence: Occurrence) -> Occurrence? {
    var sent = occurrence.withoutMoney
    switch occurrence.kind {
    case .productChanged, .downgraded: return nil
    case .refunded, .purchaseRefunded:
      let isWhole = purchase(of: occurrence).map { $0.wholeRefundAt != nil }
      guard isWhole ?? isWholeRefundOfLatest(occurrence) else { return nil }
      if person.shop.isOriginalIaptic { sent.kind = .revoked }
    case .upgraded: sent.kind = .started
    case .trialConverted: sent.kind = .renewed
    case .billingRetry: if occurrence.graceEnd != nil { sent.kind = .graceEntered }
    case .canceled: if period(of: occurrence)?.gaveUpAt == occurrence.time { sent.kind = .expired }
    default: break
    }
    sent.previousProduct = nil
    return sent
  }

  /// Collections contain only the last transaction of a product, so that older ones and partial
  /// amounts cannot be sent.
  private func isWholeRefundOfLatest(_ refund: Occurrence) -> Bool {
    guard let period = period(of: refund), period.charge.wholeRefundAt != nil else { return false }
    return !paidPeriods.contains {
      $0.charge.time > period.charge.time && $0.charge.time <= refund.time
    }
  }

  /// Why a period ended, if iaptic sends more than that auto-renew was switched off.
  func reportedReason(of period: AccessPeriod) -> ChurnReason? {
    let isMonthly = period.product == .monthly
    let refuses = isMonthly && !person.acceptsPriceRise && period.end >= span.priceRise
    return refuses && period.canceledAt != nil && period.hasExpired ? .priceIncrease : nil
  }
}

extension CustomerSimulation {
  private var iapticHistory: ExpectedHistory {
    let trial = firstTrial
    let periods = paidPeriods.filter { $0.charge.time >= span.start }.map { sent in
      var period = sent
      // Without the end of grace, access ends with the paid period.
      period.graceEnd = nil
      period.charge = charged(sent.charge)
      if period.revokedAt == nil, !isSent(refundOf: sent) { period.charge.refund = nil }
      switch sent.charge.kind {
      case .conversion where trial == nil: period.charge.kind = .renewal
      // A purchase that replaces another is sent as a new purchase.
      case .productChange: period.charge.kind = .first
      default: break
      }
      period.reportedReason = reportedReason(of: sent)
      return period
    }
    let startIsSeen = periods.first.map { isStart($0.charge) } ?? true
    let chain = Subscription(trial: trial, chaining: periods, startIsSeen: startIsSeen)
    return ExpectedHistory(
      subscriptions: [chain].compactMap(\.self),
      purchases: purchases.map(charged),
      basis: person.isWithoutAmounts ? .priceBook : .provider)
  }

  /// Whether nothing proves a period before a first charge: in Stripe a subscription's id is not a
  /// transaction's, so a different id is not evidence.
  private func isStart(_ charge: Charge) -> Bool {
    let isFirst = charge.transaction.index == 0 || person.shop.store == .stripe
    return charge.kind == .conversion || charge.kind == .first && isFirst
  }

  /// Without reasons, results are derived, at list prices; a missing purchase is revoked, not
  /// refunded.
  private var originalIapticHistory: ExpectedHistory {
    let trial = subscriptions.first?.trial
    let sent = paidPeriods.map { period in
      var period = period
      period.graceEnd = nil
      period.reportedReason = reportedReason(of: period)
      return period
    }
    let periods = chained(sent, first: trial == nil ? .first : .conversion)
    let chain = Subscription(trial: trial, chaining: periods, startIsSeen: true)
    return ExpectedHistory(
      subscriptions: [chain].compactMap(\.self),
      purchases: listedPurchases(sendsRefunds: false), basis: .priceBook)
  }

  private func isSent(refundOf period: AccessPeriod) -> Bool {
    occurrences.contains {
      $0.kind == .refunded && $0.transaction == period.charge.transaction
    }
  }

  /// The amount that the customer paid, with unknown proceeds.
  private func charged(_ charge: Charge) -> Charge {
    var charged = charge
    if charge.kind == .oneTime, charge.wholeRefundAt == nil { charged.refund = nil }
    guard !person.isWithoutAmounts else { return listed(charged) }
    charged.rate = Charge.unknownRate
    charged.sendsProceeds = false
    return charged
  }
}

extension Evidence {
  /// A collection contains the state of its purchases, whatever triggered it.
  ///
  /// Refunds are events only, and a missing purchase is not sent again. Its end follows from its
  /// end date.
  var ofIaptic: [String] {
    switch occurrence.kind {
    case .other, .refunded, .purchaseRefunded, .revoked, .expired, .trialExpired: return []
    default: guard customer.person.environment == .production else { return [] }
    }
    func holds(_ time: Int64) -> Bool {
      customer.collection(at: time).contains {
        $0.charge.transaction == occurrence.transaction
      }
    }
    return found(inSnapshot: holds(customer.span.end)) {
      !customer.isIapticTest($0) && holds($0.time)
    }
  }
}
