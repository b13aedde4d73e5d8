import Domain

extension Sender {
  static let purple = Sender(
    attempts: iaptic.attempts, sendsRefunds: { $0 == .oneTime },
    app: { $0.app.id(in: .playStore) + ".kiosk" }, isReported: { $0.store != .stripe },
    coverage: { _, _ in
      (.exact, "kinds are sent; ends and amounts are the list's; refunds are sent of one-time ones")
    },
    seen: { customer, _ in customer.seenByPurple }, body: { event, _, _ in event.purpleBody },
    snapshot: { customer in
      // Purple publishes no API. The snapshot is a list that the team keeps, in the format for
      // entitlements of any provider.
      let end = customer.span.end
      guard var holder = customer.holders(at: end).first else { return nil }
      holder.user = customer.person.purpleUser
      holder.holdings.removeAll { $0.origin != .purchase }
      return SnapshotLine(shape: .canonical, holder: holder, time: end).json
    },
    name: { purpleName($0.occurrence.kind) }, user: \.person.purpleUser,
    namesOriginal: { $0.person.shop.store == .playStore || $0.sendsOriginal },
    evidence: { $0.found(inSnapshot: $0.isShownByPurple) })
}

// Purple's bodies: receipt events.
//
// Source: docs.purplepublish.com, Receipt Events, as summarized in the notes on providers.

extension SentEvent {
  var purpleBody: JSON {
    let about = occurrence.kind == .other ? ["appId": person.shop.appID] : purchase
    let milliseconds = Int64(
      Randomness.mix(person.noise ^ UInt64(bitPattern: occurrence.time)) % 1_000)
    return [
      "version": noise % 4 == 0 ? nil : "1.0", "type": purpleName(occurrence.kind),
      "properties": about
        + JSON([(person.hasPurpleAccount ? "accountId" : "deviceId", person.purpleUser.json)]),
      "eventTimeMillis": occurrence.time * 1000 + milliseconds,
    ]
  }

  private var purchase: JSON {
    let product = person.app.storeID(of: occurrence.product)
    let previous = occurrence.previousProduct.map(person.app.storeID)
    let original = person.text(occurrence.transaction.original)
    let isTrial = occurrence.kind == .trialStarted
    let isStart = occurrence.kind == .started || isTrial
    // The schema declares strings, the description Booleans.
    let flag = { (flag: Bool) in noise % 3 == 0 ? flag.json : "\(flag)".json }
    return [
      "packageName": person.shop.appID, "previousProductId": previous,
      previous == nil ? "productId" : "nextProductId": product,
      "transactionId": person.text(occurrence.transaction),
      "originalTransactionId": sendsOriginal ? original : nil,
      "trialPeriod": isStart ? flag(isTrial) : nil,
      "introOfferPeriod": isStart ? flag(false) : nil,
    ]
  }

  /// Whether its line names the first transaction; product changes never do.
  var sendsOriginal: Bool {
    !occurrence.isOfPurchase && occurrence.previousProduct == nil
      && customer.sendsNewerBodies(at: occurrence.time)
  }
}

extension Person {
  /// Purple's id of the user: for an account, the app's own user id, which other providers send,
  /// too.
  var purpleUser: String {
    hasPurpleAccount ? accountName : "dev-" + Randomness.mix(noise ^ 0xdec1).hexadecimal
  }

  /// Whether Purple identifies this person by an account rather than a device.
  var hasPurpleAccount: Bool { noise >> 8 & 3 != 0 }
}

private func purpleName(_ kind: EventKind) -> String {
  switch kind {
  case .trialStarted, .started: "SUBSCRIPTION_PURCHASED"
  case .canceled: "SUBSCRIPTION_CANCELLED"
  case .graceEntered: "SUBSCRIPTION_RENEWAL_FAILED"
  case .endedInvoluntarily: "SUBSCRIPTION_CANCELLED_INVOLUNTARY"
  case .purchased: "PRODUCT_PURCHASED"
  case .purchaseRefunded: "PRODUCT_CANCELLED"
  case .other: "ACCOUNT_ASSIGNMENTS_CHANGED"
  default: "SUBSCRIPTION_\(kind.name.uppercased())"
  }
}

extension CustomerSimulation {
  /// The customer as Purple sends it, by kind and for the two mobile stores: without money, ends of
  /// periods, refunds of subscriptions or a sandbox flag.
  var seenByPurple: CustomerSimulation {
    var seen = reported(by: .purple)
    seen.person.environment = .production
    let all = occurrences + expiriesAfterRefund
    seen.occurrences = all.compactMap(asSentByPurple).sorted { $0.time < $1.time }
    seen.expected = seen.purpleHistory
    return seen
  }

  private func asSentByPurple(_ occurrence: Occurrence) -> Occurrence? {
    var sent = occurrence.withoutMoney
    switch occurrence.kind {
    case .refunded, .productChanged: return nil
    case .purchaseRefunded:
      guard purchase(of: occurrence)?.wholeRefundAt != nil else { return nil }
    case .other:
      // Purple has no marketing signal; some accounts change their assignments then.
      guard person.hasPurpleAccount else { return nil }
    case .trialConverted:
      sent.kind = trial(of: occurrence)?.billingIssueAt != nil ? .recovered : .renewed
    case .renewed: if followsBillingIssue(occurrence) { sent.kind = .recovered }
    case .started: if isReturn(occurrence) { sent.kind = .resubscribed }
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

  /// A refunded purchase expires without a refund event, unless there is a purchase in between.
  private var expiriesAfterRefund: [Occurrence] {
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

  /// Whether the paid period before that of `renewal` ended with a failed payment.
  private func followsBillingIssue(_ renewal: Occurrence) -> Bool {
    guard case .period(let subscription, let index) = renewal.part, index > 0 else { return false }
    return subscriptions[subscription].periods[index - 1].billingIssueAt != nil
  }

  /// Whether a start follows another paid period that the archives cover.
  private func isReturn(_ start: Occurrence) -> Bool {
    paidPeriods.contains { $0.charge.time >= span.start && $0.charge.time < start.time }
  }
}

extension CustomerSimulation {
  private var purpleHistory: ExpectedHistory {
    let trial = firstTrial
    let periods = subscriptions.indices.flatMap { subscription in
      subscriptions[subscription].periods.indices.compactMap { index in
        seen(.period(subscription: subscription, period: index), hasTrial: trial != nil)
      }
    }
    let chain = Subscription(
      trial: trial, chaining: periods, startIsSeen: periods.first.map(isStart) ?? true)
    return ExpectedHistory(
      subscriptions: [chain].compactMap(\.self),
      purchases: listedPurchases(sendsRefunds: true), basis: .priceBook)
  }

  private func seen(_ part: OccurrencePart, hasTrial: Bool) -> AccessPeriod? {
    guard let period = period(of: part), period.charge.time >= span.start else { return nil }
    var seen = period
    seen.charge = listed(period.charge)
    seen.charge.refund = nil
    if period.charge.kind == .conversion, !hasTrial { seen.charge.kind = .renewal }
    seen.revokedAt = nil
    // Only the event's time is sent; the list contains the length of a period.
    seen.start = period.charge.time
    seen.end = period.product.end(from: period.charge.time)
    seen.graceEnd = openGrace(of: part, until: seen.end)
    return seen
  }

  /// How long access continues after a failed renewal: until an event ends it, at most 60 days.
  private func openGrace(of part: OccurrencePart, until end: Int64) -> Int64? {
    let sent = occurrences.filter { $0.part == part && $0.time < span.end }
    guard let failed = sent.first(where: { $0.kind == .graceEntered }) else { return nil }
    let ended = sent.first {
      $0.time >= failed.time && ($0.kind == .expired || $0.kind == .endedInvoluntarily)
    }
    return min(max(ended?.time ?? .max, end), end + 60 * day)
  }

  /// A purchase with its own id is a start, and so is one that follows a trial.
  private func isStart(_ first: AccessPeriod) -> Bool {
    switch first.charge.kind {
    case .conversion: true
    case .first:
      first.charge.transaction.index == 0 || !sendsNewerBodies(at: first.charge.time)
    default: false
    }
  }
}

extension Evidence {
  /// Purple's snapshot lists every transaction except consumables, and the state at the end.
  var isShownByPurple: Bool {
    switch occurrence.kind {
    case .trialStarted, .started, .renewed, .recovered, .resubscribed, .upgraded: true
    case .purchased, .purchaseRefunded: !occurrence.product.isConsumable
    case .canceled: isStateAtEnd(.canceled) && !hasEnd
    case .graceEntered: isStateAtEnd(.billingIssue)
    // Access that ended with a refund, for which Purple has no event, needs no expiry.
    case .expired, .endedInvoluntarily: isOfLastPart && !isWholeRefund
    default: false
    }
  }
}
