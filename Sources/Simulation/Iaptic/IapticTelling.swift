import Domain

extension Life {
  /// The life as iaptic tells it: whole collections of purchases, with the reason of the call and
  /// money in one app, and without both in the other, whose integration is of the first years.
  func toldByIaptic(_ span: Span) -> Life? {
    var told = self
    told.transferredFrom = nil
    told.person.shop.provider = .iaptic
    let isOld = person.shop.isOriginalIaptic
    let isKnown = !isOld || !beganBefore(span)
    let all = isKnown ? happeningsSinceFirstCharge : happenings.filter(\.isOfPurchase)
    if !isKnown { told.subscriptions = [] }
    told.happenings = all.compactMap(asToldByIaptic)
    let fold = IapticFold(life: told, span: span)
    told.retold = isOld ? fold.reportedByState : fold.reportedByReason
    return told
  }

  /// Whether something was paid or tried before the archives begin.
  ///
  /// Without dates of renewals nothing then tells when the first period that they cover began.
  private func beganBefore(_ span: Span) -> Bool {
    paidPeriods.contains { $0.charge.time < span.start }
      || subscriptions.contains { $0.trial.map { $0.start < span.start } ?? false }
  }

  private func asToldByIaptic(_ happening: Happening) -> Happening? {
    var told = happening
    told.revenue = nil
    told.renewCount = nil
    switch happening.kind {
    case .productChanged, .downgraded: return nil
    case .refunded:
      guard isWholeRefundOfLatest(happening) else { return nil }
      if person.shop.isOriginalIaptic { told.kind = .revoked }
    case .purchaseRefunded:
      guard purchase(of: happening)?.refund?.isWhole ?? false else { return nil }
      if person.shop.isOriginalIaptic { told.kind = .revoked }
    case .upgraded: told.kind = .started
    case .trialConverted: told.kind = .renewed
    case .billingRetry: if happening.graceEnd != nil { told.kind = .graceEntered }
    case .canceled: if period(of: happening)?.gaveUpAt == happening.time { told.kind = .expired }
    default: break
    }
    told.previousProduct = nil
    return told
  }

  /// Collections hold only the last transaction of a product, so that older ones and parts of an
  /// amount cannot be told.
  private func isWholeRefundOfLatest(_ refund: Happening) -> Bool {
    guard let period = period(of: refund), period.charge.refund?.isWhole ?? false else {
      return false
    }
    return !paidPeriods.contains {
      $0.charge.time > period.charge.time && $0.charge.time <= refund.time
    }
  }
}

extension Happening {
  /// Whether it is about something that does not renew.
  var isOfPurchase: Bool {
    if case .purchase = part { true } else { false }
  }
}

extension Shop {
  /// Whether the integration is of the first years: no reason, no transaction id, no money.
  var isOriginalIaptic: Bool { app == 1 }
}

extension Person {
  /// Whether iaptic knows no amounts for this person: they may be null.
  var isWithoutAmounts: Bool { shop.isOriginalIaptic || noise >> 12 & 3 == 0 }
}

/// Puts together what iaptic tells, by the contract's rules.
private struct IapticFold {
  let life: Life
  let span: Span
  private let list: ListedPrices

  init(life: Life, span: Span) {
    self.life = life
    self.span = span
    list = ListedPrices(span: span)
  }

  /// With reasons: as told, with the amounts that are sent.
  var reportedByReason: Reported {
    var reported = Reported(basis: life.person.isWithoutAmounts ? .priceBook : .provider)
    var chain = Chain()
    chain.trial = told(life.subscriptions.first?.trial)
    for lived in life.paidPeriods where lived.charge.time >= span.start {
      var period = lived
      period.charge = charged(lived.charge)
      if period.revokedAt == nil, !isTold(refundOf: lived) { period.charge.refund = nil }
      switch lived.charge.kind {
      case .conversion where chain.trial == nil: period.charge.kind = .renewal
      // A purchase in the place of another is told as a purchase.
      case .productChange: period.charge.kind = .first
      default: break
      }
      period.toldReason = life.toldReason(of: lived, span)
      chain.append(period)
    }
    let startIsSeen = chain.periods.first.map { isStart($0.charge) } ?? true
    reported.subscriptions = chain.subscription(startIsSeen: startIsSeen).map { [$0] } ?? []
    reported.purchases = life.purchases.map(charged)
    return reported
  }

  /// Whether nothing proves a life before a first charge: in Stripe the id of a subscription is no
  /// transaction's, so that another id proves nothing.
  private func isStart(_ charge: Charge) -> Bool {
    let isFirst = charge.transaction.index == 0 || life.person.shop.store == .stripe
    return charge.kind == .conversion || charge.kind == .first && isFirst
  }

  /// Without reasons: as derived, at the list's prices; what vanishes is taken away, not refunded.
  var reportedByState: Reported {
    var reported = Reported(basis: .priceBook)
    reported.purchases = life.purchases.map { purchase in
      var listed = list.priced(purchase, in: life.person.shop)
      listed.refund = nil
      return listed
    }
    var chain = Chain()
    chain.trial = life.subscriptions.first?.trial
    let lived = life.paidPeriods.map { period in
      var period = period
      period.graceEnd = nil
      period.toldReason = life.toldReason(of: period, span)
      return period
    }
    let fold = StateFold(list: list, shop: life.person.shop)
    let first: ChargeKind = chain.trial == nil ? .first : .conversion
    for period in fold.periods(lived, first: first) { chain.append(period) }
    reported.subscriptions = chain.subscription(startIsSeen: true).map { [$0] } ?? []
    return reported
  }

  private func told(_ trial: TrialPeriod?) -> TrialPeriod? {
    trial.flatMap { $0.start >= span.start ? $0 : nil }
  }

  private func isTold(refundOf period: PaidPeriod) -> Bool {
    life.happenings.contains {
      $0.kind == .refunded && $0.transaction == period.charge.transaction
    }
  }

  /// What the customer paid, with what stays after commission unknown.
  private func charged(_ charge: Charge) -> Charge {
    var charged = charge
    if charge.kind == .oneTime, !(charge.refund?.isWhole ?? true) { charged.refund = nil }
    guard !life.person.isWithoutAmounts else {
      return list.priced(charged, in: life.person.shop)
    }
    charged.rate = Charge.unknownRate
    charged.sendsProceeds = false
    return charged
  }
}

extension Life {
  /// Why a period ended, where iaptic says more than that somebody switched auto-renew off.
  func toldReason(of period: PaidPeriod, _ span: Span) -> ChurnReason? {
    let isMonthly = period.charge.product == Product.monthly
    let refuses = isMonthly && !person.acceptsPriceRise && period.end >= span.priceRise
    return refuses && period.canceledAt != nil && period.isToldExpired ? .priceIncrease : nil
  }
}
