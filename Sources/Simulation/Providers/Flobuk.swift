import Domain

extension Sender {
  static let flobuk = Sender(
    attempts: [0, 600, 4_200, 18_600, 61_800, 105_000, 148_200],
    deliveryWindow: 46 * hour + 1_200, stores: [.appStore, .playStore, .paypal],
    sendsRefunds: { _ in false }, app: { $0.isBare ? "" : $0.app.flobukID },
    headers: { ["X-App-Id": $0.appID, "X-Auth-Key": secret] }, namesAppInHeaders: true,
    isReported: { !$0.isBare || $0.app == .pro },
    coverage: { report, shop in
      report == "trials_monthly"
        ? (.none, "a free start looks like a paid one")
        : shop.app != .pro
          ? (.near, "older bodies send no time of their own")
          : shop.store == .playStore
            ? (.exact, "orders chain renewals; ends are sent; amounts are the list's")
            : (.exact, "renewals without user are booked and in no count of subscriptions")
    },
    seen: { customer, _ in customer.seenByFlobuk }, body: { event, _, _ in event.flobukBody },
    snapshot: { $0.flobukSnapshot(at: $0.span.end) }, name: { _ in "state" },
    user: { $0.flobukUser ?? "" }, namesOriginal: { $0.person.shop.store == .playStore },
    evidence: \.ofFlobuk)
}

// FLOBUK's bodies: the state of one purchase.
//
// Sources: docs.iapguard.com and flobuk.gitlab.io/validator, Webhook, as summarized in the notes on
// providers.

extension SentEvent {
  var flobukUser: String? { customer.namesFlobukUser(occurrence) ? person.accountName : nil }

  var flobukBody: JSON {
    let isTimed = customer.sendsNewerBodies(at: occurrence.time)
    return [
      "transaction": person.id(occurrence.transaction),
      "data": customer.flobukState(occurrence.part, at: occurrence.time),
      "store": ["AppleAppStore", "GooglePlay", "PayPal"][person.shop.storeIndex],
      "user": flobukUser, "timestamp": isTimed ? person.flobukTime(occurrence.time) : nil,
    ]
  }
}

extension CustomerSimulation {
  /// The customer as FLOBUK sends it: the state of one purchase at a time, without money, trials,
  /// refunds or the previous purchase.
  ///
  /// The user is named only if the user's device triggered the event.
  var seenByFlobuk: CustomerSimulation {
    var seen = reported(by: .flobuk)
    seen.person.shop.isBare = person.shop.app == .pro && person.noise >> 32 & 7 == 0
    seen.occurrences = occurrencesSinceFirstCharge.compactMap { occurrence in
      switch occurrence.kind {
      case .refunded, .purchaseRefunded, .productChanged, .downgraded, .other: return nil
      default:
        var sent = occurrence.withoutMoney
        sent.previousProduct = nil
        return sent
      }
    }
    seen.expected = seen.flobukHistory
    return seen
  }

  func namesFlobukUser(_ occurrence: Occurrence) -> Bool {
    switch occurrence.kind {
    case .trialStarted, .started, .purchased: true
    case .trialConverted, .renewed, .upgraded: person.validatesRenewals
    default: false
    }
  }

  /// FLOBUK's records of a part of the history at `time`.
  ///
  /// A `status` of 0, 1 or 4 gives access, no other does; the vendor does not publish their names.
  /// The newest bodies, those of one app, also have a group and a reason.
  func flobukState(_ part: OccurrencePart, at time: Int64) -> JSON {
    guard let period = period(of: part)?.known(at: time) else {
      guard case .purchase(let index) = part else {
        preconditionFailure("an occurrence of a subscription is in one of its periods")
      }
      let product = purchases[index].product
      let type = product.isConsumable ? "Consumable" : "Non-Consumable"
      return ["type": type] + flobukProduct(product)
    }
    let isRetrying = period.billingIssueAt != nil
    let isOver = period.gaveUpAt != nil || period.hasExpired
    let renews = !isOver && period.canceledAt == nil
    let owned = if case .trial = part { UInt64(0) } else { person.noise & 1 }
    let isNewest = person.shop.app == .pro
    return [
      "status": isOver ? 3 : isRetrying ? 4 : owned, "type": "Subscription",
      "expiresDate": person.flobukTime(period.end), "autoRenew": renews,
      "billingRetry": isRetrying, "groupId": isNewest ? person.app.subscriptionGroup : nil,
      "cancelReason": isNewest && !renews ? isRetrying ? 1 : 0 : nil,
    ] + flobukProduct(period.product)
  }

  private func flobukProduct(_ product: Product) -> JSON {
    [
      "productId": person.app.storeID(of: product),
      "sandbox": person.environment == .sandbox,
    ]
  }

  /// `GET /v1/user/{appid}/{userid}`: the newest subscription and purchases that do not expire.
  func flobukSnapshot(at time: Int64) -> JSON? {
    guard occurrences.contains(where: namesFlobukUser) else { return nil }
    var parts = purchases.indices.filter { !purchases[$0].product.isConsumable }
      .map { OccurrencePart.purchase($0) }
    if let newest = subscriptions.indices.last, occurrences.contains(where: { !$0.isOfPurchase }) {
      let period = subscriptions[newest].periods.indices.last
      parts.insert(
        period.map { .period(subscription: newest, period: $0) } ?? .trial(subscription: newest),
        at: 0)
    }
    return [
      "user": person.accountName, "app_id": person.shop.appID, "captured_at": time,
      "purchases": parts.map { part -> JSON in ["data": flobukState(part, at: time)] },
    ]
  }
}

extension Person {
  /// Whether the app validates each renewal's receipt before the store reports it.
  var validatesRenewals: Bool { noise >> 36 & 1 == 0 }

  /// A time in seconds, as FLOBUK sends it; some senders use milliseconds.
  func flobukTime(_ second: Int64) -> Int64 { noise >> 40 & 7 == 0 ? second * 1000 : second }
}

extension CustomerSimulation {
  private var isPlay: Bool { person.shop.store == .playStore }

  private var flobukHistory: ExpectedHistory {
    var history = ExpectedHistory(
      purchases: listedPurchases(sendsRefunds: false), basis: .priceBook)
    let named = periods.filter(hasUser)
    let nameless = periods.filter { !hasUser($0) }
    let orders = Dictionary(grouping: nameless, by: \.charge.transaction.base)
    let groups = [named] + (isPlay ? orders.sorted { $0.key < $1.key }.map(\.value) : [])
    history.subscriptions = groups.compactMap(subscription)
    if !isPlay {
      history.unchained = nameless.flatMap { chained([$0], first: .first) }.map(\.charge)
    }
    return history
  }

  private func subscription(_ periods: [AccessPeriod]) -> Subscription? {
    // Play numbers the renewals of an order, so the first one seen may prove others.
    let startIsSeen = !isPlay || periods.first?.charge.transaction.index == 0
    let folded = chained(periods, first: startIsSeen ? .first : .renewal)
    return Subscription(trial: nil, chaining: folded, startIsSeen: startIsSeen)
  }

  /// Every period with its own end, including trials, which look like paid periods.
  private var periods: [AccessPeriod] {
    let trials = subscriptions.compactMap(\.trial).map { trial in
      var period = trial
      if trial.billingIssueAt != nil, trial.hasExpired { period.gaveUpAt = trial.end + 60 * day }
      return period
    }
    return (trials + paidPeriods).filter { $0.charge.time >= span.start }
      .map { period in
        var seen = period
        seen.graceEnd = nil
        seen.revokedAt = nil
        return seen
      }
  }

  /// Whether the ledger can find the user of the period: from its own line, or for Play from
  /// another line of the same order.
  private func hasUser(_ period: AccessPeriod) -> Bool {
    let transaction = period.charge.transaction
    return occurrences.contains { occurrence in
      let isSame =
        isPlay
        ? occurrence.transaction.base == transaction.base : occurrence.transaction == transaction
      return isSame && namesFlobukUser(occurrence)
    }
  }
}

extension Evidence {
  /// The snapshot has no transaction ids and no dates.
  ///
  /// It reveals a user without any other event. For Play, whose order ids chain renewals without a
  /// user, it shows that a known subscription continues or is in another state.
  var ofFlobuk: [String] {
    guard customer.person.environment == .production else { return [] }
    let occurrences = customer.occurrences
    let named = occurrences.indices.filter { customer.namesFlobukUser(occurrences[$0]) }
    let arrived = named.filter { outcomes[$0] != .lost }.map { occurrences[$0].transaction.base }
    // No answer lists consumables, and subscriptions that ended before the archives begin are not
    // evidence.
    let isListed =
      occurrences.contains { !$0.isOfPurchase }
      || customer.purchases.contains { !$0.product.isConsumable }
    let isShown =
      arrived.isEmpty
      ? event.index == named.first && isListed
      : arrived.contains(occurrence.transaction.base) && isShownByChain
    return found(inSnapshot: isShown) { $0.transaction == occurrence.transaction }
  }

  private var isShownByChain: Bool {
    guard customer.person.shop.store == .playStore else { return false }
    switch occurrence.kind {
    case .trialStarted, .trialConverted, .started, .renewed: return isOfLastPart && isActiveAtEnd
    case .canceled, .trialCanceled: return isStateAtEnd(.canceled) && isActiveAtEnd
    case .billingRetry, .trialBillingRetry: return isStateAtEnd(.billingIssue)
    default: return false
    }
  }
}
