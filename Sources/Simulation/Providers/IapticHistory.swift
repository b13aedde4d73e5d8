import Domain

extension CustomerSimulation {
  /// The customer as iaptic sends it: whole collections of purchases; one app has the reason of the
  /// call and money, the other, an integration of the first years, has neither.
  func seenByIaptic(_ span: TimeSpan) -> CustomerSimulation {
    var seen = reported(by: .iaptic)
    let isOld = person.shop.isOriginalIaptic
    let isKnown = !isOld || !beganBefore(span)
    let all = isKnown ? occurrencesSinceFirstCharge : occurrences.filter(\.isOfPurchase)
    if !isKnown { seen.subscriptions = [] }
    seen.occurrences = all.compactMap(asSentByIaptic)
    let fold = HistoryFold(customer: seen, span: span)
    seen.expected = isOld ? fold.ofOriginalIaptic : fold.ofIaptic
    return seen
  }

  /// Whether something was paid or tried before the archives begin.
  ///
  /// Without dates of renewals, nothing then shows when the first covered period began.
  private func beganBefore(_ span: TimeSpan) -> Bool {
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
  func reportedReason(of period: AccessPeriod, _ span: TimeSpan) -> ChurnReason? {
    let isMonthly = period.product == .monthly
    let refuses = isMonthly && !person.acceptsPriceRise && period.end >= span.priceRise
    return refuses && period.canceledAt != nil && period.hasExpired ? .priceIncrease : nil
  }
}

extension HistoryFold {
  var ofIaptic: ExpectedHistory {
    let trial = customer.firstTrial(since: span.start)
    let periods = customer.paidPeriods.filter { $0.charge.time >= span.start }.map { sent in
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
      period.reportedReason = customer.reportedReason(of: sent, span)
      return period
    }
    let startIsSeen = periods.first.map { isStart($0.charge) } ?? true
    let chain = Subscription(trial: trial, chaining: periods, startIsSeen: startIsSeen)
    return ExpectedHistory(
      subscriptions: [chain].compactMap(\.self),
      purchases: customer.purchases.map(charged),
      basis: customer.person.isWithoutAmounts ? .priceBook : .provider)
  }

  /// Whether nothing proves a period before a first charge: in Stripe a subscription's id is not a
  /// transaction's, so a different id is not evidence.
  private func isStart(_ charge: Charge) -> Bool {
    let isFirst = charge.transaction.index == 0 || shop.store == .stripe
    return charge.kind == .conversion || charge.kind == .first && isFirst
  }

  /// Without reasons, results are derived, at list prices; a missing purchase is revoked, not
  /// refunded.
  var ofOriginalIaptic: ExpectedHistory {
    let trial = customer.subscriptions.first?.trial
    let sent = customer.paidPeriods.map { period in
      var period = period
      period.graceEnd = nil
      period.reportedReason = customer.reportedReason(of: period, span)
      return period
    }
    let periods = chained(sent, first: trial == nil ? .first : .conversion)
    let chain = Subscription(trial: trial, chaining: periods, startIsSeen: true)
    return ExpectedHistory(
      subscriptions: [chain].compactMap(\.self),
      purchases: customer.listedPurchases(list, sendsRefunds: false), basis: .priceBook)
  }

  private func isSent(refundOf period: AccessPeriod) -> Bool {
    customer.occurrences.contains {
      $0.kind == .refunded && $0.transaction == period.charge.transaction
    }
  }

  /// The amount that the customer paid, with unknown proceeds.
  private func charged(_ charge: Charge) -> Charge {
    var charged = charge
    if charge.kind == .oneTime, charge.wholeRefundAt == nil { charged.refund = nil }
    guard !customer.person.isWithoutAmounts else { return list.priced(charged, in: shop) }
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
      customer.collection(at: time, span).contains {
        $0.charge.transaction == occurrence.transaction
      }
    }
    return found(inSnapshot: holds(span.end)) { !customer.isIapticTest($0) && holds($0.time) }
  }
}
