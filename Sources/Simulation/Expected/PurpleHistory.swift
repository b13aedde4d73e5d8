import Domain

extension CustomerSimulation {
  /// The customer as Purple sends it: by kind, without money, ends of periods, refunds of
  /// subscriptions or a mark of the sandbox, for the two mobile stores.
  func seenByPurple(_ span: TimeSpan) -> CustomerSimulation? {
    guard person.shop.store != .stripe else { return nil }
    var seen = self
    seen.transferredFrom = nil
    seen.person.shop.provider = .purple
    seen.person.environment = .production
    let all = occurrences + expiriesAfterRefund(span)
    seen.occurrences = all.compactMap { asSentByPurple($0, span) }.sorted { $0.time < $1.time }
    seen.expected = PurpleFold(customer: seen, span: span).history
    return seen
  }

  private func asSentByPurple(_ occurrence: Occurrence, _ span: TimeSpan) -> Occurrence? {
    var sent = occurrence
    sent.revenue = nil
    sent.renewCount = nil
    switch occurrence.kind {
    case .refunded, .productChanged: return nil
    case .purchaseRefunded:
      guard purchase(of: occurrence)?.wholeRefundAt != nil else { return nil }
    case .other:
      // The marketing signal is not Purple's; some accounts change their assignments then.
      guard person.hasPurpleAccount else { return nil }
    case .trialConverted:
      sent.kind = trial(of: occurrence)?.billingIssueAt != nil ? .recovered : .renewed
    case .renewed: if followsBillingIssue(occurrence) { sent.kind = .recovered }
    case .started: if isReturn(occurrence, span) { sent.kind = .resubscribed }
    case .trialCanceled: sent.kind = .canceled
    case .trialBillingRetry, .billingRetry: sent.kind = .graceEntered
    case .trialExpired:
      sent.kind = trial(of: occurrence)?.billingIssueAt == nil ? .expired : .endedInvoluntarily
    case .canceled:
      if period(of: occurrence)?.gaveUpAt == occurrence.time { sent.kind = .endedInvoluntarily }
    default: break
    }
    return sent
  }

  /// A refunded purchase expires without a refund event, unless there is a purchase meanwhile.
  private func expiriesAfterRefund(_ span: TimeSpan) -> [Occurrence] {
    occurrences.compactMap { refund in
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

  private func trial(of occurrence: Occurrence) -> AccessPeriod? {
    occurrence.part.subscription.flatMap { subscriptions[$0].trial }
  }

  /// Whether the paid period before the one of `renewal` ended in a failed payment.
  private func followsBillingIssue(_ renewal: Occurrence) -> Bool {
    guard case .period(let subscription, let index) = renewal.part, index > 0 else { return false }
    return subscriptions[subscription].periods[index - 1].billingIssueAt != nil
  }

  /// Whether a start follows another paid period that the archives cover.
  private func isReturn(_ start: Occurrence, _ span: TimeSpan) -> Bool {
    paidPeriods.contains { $0.charge.time >= span.start && $0.charge.time < start.time }
  }
}

/// Puts together what Purple sends, by the contract's rules.
private struct PurpleFold {
  let customer: CustomerSimulation
  let span: TimeSpan
  private var list: ListedPrices { ListedPrices(span: span) }
  private var shop: Shop { customer.person.shop }

  var history: ExpectedHistory {
    let trial = customer.subscriptions.first?.trial.flatMap { $0.start >= span.start ? $0 : nil }
    var periods: [AccessPeriod] = []
    for (subscription, sent) in customer.subscriptions.enumerated() {
      for (index, period) in sent.periods.enumerated() {
        let part = OccurrencePart.period(subscription: subscription, period: index)
        if var seen = seen(period, hasTrial: trial != nil) {
          seen.graceEnd = openGrace(of: part, until: seen.end)
          periods.append(seen)
        }
      }
    }
    let chain = Subscription(
      trial: trial, chaining: periods, startIsSeen: periods.first.map(isStart) ?? true)
    return ExpectedHistory(
      subscriptions: chain.map { [$0] } ?? [],
      purchases: customer.listedPurchases(list, sendsRefunds: true), basis: .priceBook)
  }

  private func seen(_ period: AccessPeriod, hasTrial: Bool) -> AccessPeriod? {
    guard period.charge.time >= span.start else { return nil }
    var seen = period
    seen.charge = list.priced(period.charge, in: shop)
    seen.charge.refund = nil
    if period.charge.kind == .conversion, !hasTrial { seen.charge.kind = .renewal }
    seen.revokedAt = nil
    // Only the event's time is sent; the list contains the length of a period.
    seen.start = period.charge.time
    seen.end = Product.all[period.charge.product].end(from: period.charge.time)
    return seen
  }

  /// How long access continues after a failed renewal: until an event ends it, at most 60 days.
  private func openGrace(of part: OccurrencePart, until end: Int64) -> Int64? {
    let sent = customer.occurrences.filter { $0.part == part && $0.time < span.end }
    guard let failed = sent.first(where: { $0.kind == .graceEntered }) else { return nil }
    let ended = sent.first {
      $0.time >= failed.time && ($0.kind == .expired || $0.kind == .endedInvoluntarily)
    }
    return min(max(ended?.time ?? .max, end), end + 60 * day)
  }

  /// A purchase under an id of its own is a start, and so is what follows a trial.
  private func isStart(_ first: AccessPeriod) -> Bool {
    switch first.charge.kind {
    case .conversion: true
    case .first:
      first.charge.transaction.index == 0
        || !shop.sendsNewerBodies(at: first.charge.time, in: span)
    default: false
    }
  }
}
