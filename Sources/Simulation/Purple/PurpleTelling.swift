import Domain

extension Life {
  /// The life as Purple tells it: by kind, without money, ends of periods, refunds of subscriptions
  /// or a mark of the sandbox, for the two mobile stores.
  func toldByPurple(_ span: Span) -> Life? {
    guard person.shop.store != .stripe else { return nil }
    var told = self
    told.transferredFrom = nil
    told.person.shop.provider = .purple
    told.person.environment = .production
    let all = happenings + expiriesAfterRefund(span)
    told.happenings = all.compactMap { asToldByPurple($0, span) }
      .sorted { $0.time < $1.time }
    told.retold = PurpleFold(life: told, span: span).reported
    return told
  }

  private func asToldByPurple(_ happening: Happening, _ span: Span) -> Happening? {
    var told = happening
    told.revenue = nil
    told.renewCount = nil
    switch happening.kind {
    case .refunded, .productChanged: return nil
    case .purchaseRefunded:
      guard purchase(of: happening)?.refund?.isWhole ?? false else { return nil }
    case .other:
      // The marketing signal is not Purple's; some accounts change their assignments then.
      guard person.hasPurpleAccount else { return nil }
    case .trialConverted:
      let wasRetrying = trialBefore(happening)?.billingIssueAt != nil
      told.kind = wasRetrying ? .recovered : .renewed
    case .renewed:
      if previousPeriod(of: happening)?.billingIssueAt != nil { told.kind = .recovered }
    case .started: if isReturn(happening, span) { told.kind = .resubscribed }
    case .trialCanceled: told.kind = .canceled
    case .trialBillingRetry, .billingRetry: told.kind = .graceEntered
    case .trialExpired:
      told.kind = trial(of: happening)?.billingIssueAt == nil ? .expired : .endedInvoluntarily
    case .canceled:
      if period(of: happening)?.gaveUpAt == happening.time { told.kind = .endedInvoluntarily }
    default: break
    }
    return told
  }

  /// What was refunded expires without a word of the refund, unless something was bought meanwhile.
  private func expiriesAfterRefund(_ span: Span) -> [Happening] {
    happenings.compactMap { refund in
      guard refund.kind == .refunded, let period = period(of: refund),
        period.revokedAt == refund.time, period.end < span.end,
        !paidPeriods.contains(where: {
          $0.charge.time > refund.time && $0.charge.time <= period.end
        })
      else { return nil }
      var expiry = refund
      expiry.kind = .expired
      expiry.time = period.end
      return expiry
    }
  }

  private func trialBefore(_ conversion: Happening) -> TrialPeriod? {
    guard case .period(let subscription, _) = conversion.part else { return nil }
    return subscriptions[subscription].trial
  }

  /// Whether a start follows another paid period that the archives cover.
  private func isReturn(_ start: Happening, _ span: Span) -> Bool {
    paidPeriods.contains { $0.charge.time >= span.start && $0.charge.time < start.time }
  }
}

/// Puts together what Purple tells, by the contract's rules.
private struct PurpleFold {
  let life: Life
  let span: Span
  private let list: ListedPrices

  init(life: Life, span: Span) {
    self.life = life
    self.span = span
    list = ListedPrices(span: span)
  }

  var reported: Reported {
    var reported = Reported(basis: .priceBook)
    reported.subscriptions = chain.map { [$0] } ?? []
    reported.purchases = life.purchases.map { purchase in
      var listed = list.priced(purchase, in: life.person.shop)
      if !(purchase.refund?.isWhole ?? true) { listed.refund = nil }
      return listed
    }
    return reported
  }

  private var chain: Subscription? {
    var chain = Chain()
    let trial = life.subscriptions.first?.trial
    if let trial, trial.start >= span.start { chain.trial = trial }
    for (subscription, lived) in life.subscriptions.enumerated() {
      for (index, period) in lived.periods.enumerated() {
        let part = LifePart.period(subscription: subscription, period: index)
        append(period, part, to: &chain)
      }
    }
    return chain.subscription(startIsSeen: startIsSeen(chain))
  }

  private func append(_ period: PaidPeriod, _ part: LifePart, to chain: inout Chain) {
    var seen = period
    seen.charge = list.priced(period.charge, in: life.person.shop)
    seen.charge.refund = nil
    seen.charge.isBooked = period.charge.kind != .productChange
    if period.charge.kind == .conversion, chain.trial == nil { seen.charge.kind = .renewal }
    seen.revokedAt = nil
    // Only the event's time is told; the list knows how long a period is.
    seen.start = period.charge.time
    seen.end = Product.all[period.charge.product].end(from: period.charge.time)
    let change = life.happenings.first { $0.kind == .downgraded && $0.part == part }
    if change != nil { seen.replacedAt = change?.time }
    if period.charge.time >= span.start { chain.append(seen) }
    guard let change else { return }
    // The smaller product is held from the moment of the choice, until the running end.
    var chosen = PaidPeriod(charge: seen.charge, start: change.time, end: seen.end)
    chosen.charge.kind = .productChange
    chosen.charge.isBooked = false
    chosen.charge.time = change.time
    chosen.charge.product = change.product
    chain.append(chosen)
  }

  /// A purchase under an id of its own is a start, and so is what follows a trial.
  private func startIsSeen(_ chain: Chain) -> Bool {
    guard let first = chain.periods.first?.charge else { return true }
    switch first.kind {
    case .conversion: return true
    case .first:
      return first.transaction.index == 0
        || !life.person.shop.sendsOriginal(at: first.time, in: span)
    default: return false
    }
  }
}
