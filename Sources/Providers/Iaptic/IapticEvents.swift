import Domain

// The events of an iaptic body: the reported event and the current states of the purchases.

extension IapticBody {
  /// All events of the body, the reported one first.
  func drafts(_ meaning: Meaning) -> [EventDraft] {
    guard isUpdate else { return others() }
    let subject = subject
    var drafts: [EventDraft] = []
    if case .event(let named) = meaning, named != .observed,
      subject != nil || notification.namesSubject
    {
      drafts.append(reported(named, subject.map { purchases[$0] }))
    }
    // An event without effect, or about another transaction, does not show the state, so the state
    // is added separately.
    let isShown = subject.map { notification.isShown(by: purchases[$0]) } ?? true
    let isStateReported = isShown && drafts.contains { $0.event.kind != .other }
    let name = drafts.isEmpty ? notification.reason : type
    for (index, purchase) in purchases.enumerated() where !isStateReported || index != subject {
      drafts.append(observed(purchase, as: name.isEmpty ? type : name))
    }
    if purchases.isEmpty, !isStateReported, !user.isEmpty { drafts.append(emptied()) }
    return drafts
  }

  /// The kind of event, where the purchase decides between several.
  private func kind(_ named: EventKind, of purchase: IapticPurchase) -> EventKind {
    let isTrial = purchase.state.isTrial == true
    switch named {
    case .started where purchase.state.isPending: return .observed
    case .started where isTrial: return .trialStarted
    case .started where purchase.state.productType == .oneTime: return .purchased
    case .canceled where isTrial: return .trialCanceled
    case .expired where isTrial: return .trialExpired
    case .refunded where purchase.state.productType == .oneTime: return .purchaseRefunded
    default: return named
    }
  }

  private func reported(_ named: EventKind, _ purchase: IapticPurchase?) -> EventDraft {
    var draft = absent(named)
    var period: Instant?
    if let purchase, notification.isShown(by: purchase) {
      draft = self.draft(kind(named, of: purchase), of: purchase)
      period = start(of: purchase)
    } else if let purchase {
      draft = past(named, purchase)
    }
    let kind = draft.event.kind
    draft.name = notification.reason
    draft.mark = kind == .observed ? mark(of: draft) : subject(of: draft)
    if kind == .other { draft.event.observation = nil }
    if kind == .started || kind == .purchased || kind == .trialStarted {
      draft.event.periodStart = period
    }
    return draft
  }

  /// When the shown period began; nil if only the date of the first purchase is sent and neither
  /// the transaction nor the message belongs to that purchase.
  private func start(of purchase: IapticPurchase) -> Instant? {
    let state = purchase.state
    guard state.lastChargedAt == nil, let bought = state.firstPurchasedAt else {
      return state.lastChargedAt
    }
    let isOwn =
      purchase.transaction.isEmpty || purchase.purchase.isEmpty
      || purchase.transaction.isEqual(to: purchase.purchase)
    let isFirst = isOwn || state.productType == .oneTime || base.time <= bought + .days(1)
    return isFirst ? bought : nil
  }

  private func observed(
    _ purchase: IapticPurchase, as name: UnsafeRawBufferPointer
  ) -> EventDraft {
    var draft = draft(.observed, of: purchase)
    draft.name = name
    draft.mark = mark(of: draft)
    return draft
  }

  /// Events of a body of an unknown type: kept and counted, without effect.
  private func others() -> [EventDraft] {
    let drafts = purchases.isEmpty ? [emptied()] : purchases.map { draft(.other, of: $0) }
    return drafts.map { draft in
      var other = draft
      other.event.kind = .other
      other.event.observation = nil
      other.event.collection = 0
      other.name = type
      other.mark = mark(of: draft)
      return other
    }
  }

  /// The observation that the user no longer holds anything.
  private func emptied() -> EventDraft {
    var draft = EventDraft(event: event(.observed))
    draft.isOfUser = true
    draft.name = type
    draft.user = user
    draft.mark = state
    return draft
  }

  /// The event of a purchase that is not in the body's collection.
  ///
  /// The product is then unknown, so that a purchase has no effect.
  private func absent(_ named: EventKind) -> EventDraft {
    let news = notification
    var reported = event(named == .started ? .other : named)
    reported.store = news.purchase.store ?? news.transaction.store ?? news.product.store ?? .unknown
    let isTested = !purchases.isEmpty && purchases.allSatisfy { $0.environment == .sandbox }
    reported.environment = isTested ? .sandbox : .production
    let id = news.purchase.text.isEmpty ? news.transaction : news.purchase
    var draft = EventDraft(event: reported)
    draft.original = baseOrder(id.text)
    draft.user = user
    draft.product = news.product.text
    draft.transaction = news.transaction.text
    return draft
  }

  /// The event of a transaction of `purchase` that is not the one in the collection.
  ///
  /// Period, money, state and trial belong to the transaction in the collection: a start that began
  /// as a trial is reported as a start.
  private func past(_ named: EventKind, _ purchase: IapticPurchase) -> EventDraft {
    var like = purchase
    like.state.isTrial = nil
    like.state.isPending = false
    var draft = draft(kind(named, of: like), of: notification.past(of: purchase))
    draft.event.observation = nil
    return draft
  }

  private func draft(_ kind: EventKind, of purchase: IapticPurchase) -> EventDraft {
    var event = event(kind)
    event.store = purchase.store
    event.environment = purchase.environment
    event.periodStart = purchase.state.lastChargedAt
    event.periodEnd = purchase.expiresAt
    event.observation = purchase.state
    event.observation?.isUndated = isUndated
    event.observation?.isTimeInferred = notification.date == nil
    if kind.chargeKind == nil { event.reason = purchase.reason }
    addMoney(of: purchase, to: &event)
    let isNameless = purchase.purchase.isEmpty && user.isEmpty
    var draft = EventDraft(event: event)
    draft.original = isNameless ? baseOrder(purchase.transaction) : purchase.purchase
    draft.user = user
    draft.product = purchase.product
    draft.transaction = purchase.transaction
    draft.currency = purchase.currency
    draft.offer = purchase.offer
    return draft
  }

  /// Adds the amounts that the customer paid.
  ///
  /// They are revenue of a charge, of its refund, and of a state, whose charge is derived; for any
  /// other event they are a price. A currency without amounts selects one of the listed prices.
  private func addMoney(of purchase: IapticPurchase, to event: inout Event) {
    event.units = purchase.units
    let revenue = Revenue(local: purchase.local, usd: purchase.usd, isProceed: false)
    guard revenue.hasAmount || !purchase.currency.isEmpty else { return }
    let moves =
      event.kind.chargeKind != nil || event.kind.isRefund || event.kind == .observed
    if moves, purchase.state.isTrial != true {
      event.revenue = revenue
    } else {
      event.price = Price(local: purchase.local, usd: purchase.usd)
    }
  }

  private func event(_ kind: EventKind) -> Event {
    var event = base
    event.kind = kind
    return event
  }

  /// Distinguishes the purchases of one state.
  private func mark(of draft: EventDraft) -> Int64 {
    var fingerprint = Fingerprint(seed: 5)
    fingerprint.combine(UInt64(bitPattern: state))
    fingerprint.combine(draft.product)
    return fingerprint.value
  }

  /// Distinguishes the events of one transaction by user and product.
  private func subject(of draft: EventDraft) -> Int64 {
    var fingerprint = Fingerprint(seed: 7)
    fingerprint.combine(draft.user)
    fingerprint.combine(draft.product)
    return fingerprint.value
  }
}
