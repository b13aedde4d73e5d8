import Domain

extension Life {
  /// The life as FLOBUK tells it: the state of one purchase at a time, without money, trials,
  /// refunds, or the purchase before it; and with the user only when the user's device brought it
  /// about.
  func toldByFlobuk(_ span: Span) -> Life? {
    var told = self
    told.transferredFrom = nil
    told.person.shop.provider = .flobuk
    told.person.shop.isBare = person.isFlobukBare
    told.happenings = happeningsSinceFirstCharge.compactMap { happening in
      switch happening.kind {
      case .refunded, .purchaseRefunded, .productChanged, .downgraded, .other: return nil
      default:
        var told = happening
        told.revenue = nil
        told.renewCount = nil
        told.previousProduct = nil
        return told
      }
    }
    told.retold = FlobukFold(life: told, span: span).reported
    return told
  }

  /// Whether the line of a happening names the user.
  func namesFlobukUser(_ happening: Happening) -> Bool {
    switch happening.kind {
    case .trialStarted, .started, .purchased: true
    case .trialConverted, .renewed, .upgraded: person.validatesRenewals
    default: false
    }
  }
}

extension Person {
  /// Whether the archives hold bodies without the header that names the app.
  var isFlobukBare: Bool { shop.app == 0 && noise >> 32 & 7 == 0 }

  /// Whether the app shows each renewal's receipt before the store tells of it.
  var validatesRenewals: Bool { noise >> 36 & 1 == 0 }
}

/// Puts together what FLOBUK tells, by the contract's rules.
private struct FlobukFold {
  let life: Life
  private let list: ListedPrices
  private let span: Span

  init(life: Life, span: Span) {
    self.life = life
    self.span = span
    list = ListedPrices(span: span)
  }

  private var isPlay: Bool { life.person.shop.store == .playStore }

  var reported: Reported {
    var reported = Reported(basis: .priceBook)
    reported.purchases = life.purchases.map { purchase in
      var listed = list.priced(purchase, in: life.person.shop)
      listed.refund = nil
      return listed
    }
    let named = lived.filter(hasUser)
    let nameless = lived.filter { !hasUser($0) }
    add(named, to: &reported)
    guard isPlay else {
      reported.unchained = nameless.map { period in
        var charge = list.priced(period.charge, in: life.person.shop)
        charge.kind = .first
        charge.refund = nil
        return charge
      }
      return reported
    }
    for base in Set(nameless.map(\.charge.transaction.base)).sorted() {
      add(nameless.filter { $0.charge.transaction.base == base }, to: &reported)
    }
    return reported
  }

  private func add(_ periods: [PaidPeriod], to reported: inout Reported) {
    guard let first = periods.first?.charge.transaction else { return }
    // Play numbers the renewals of an order, so that the first one seen may prove others.
    let startIsSeen = !isPlay || first.index == 0
    var chain = Chain()
    let fold = StateFold(list: list, shop: life.person.shop)
    for period in fold.periods(periods, first: startIsSeen ? .first : .renewal) {
      chain.append(period)
    }
    if let subscription = chain.subscription(startIsSeen: startIsSeen) {
      reported.subscriptions.append(subscription)
    }
  }

  /// Every period with an end of its own, trials included: they look like paid ones.
  private var lived: [PaidPeriod] {
    let trials = life.subscriptions.compactMap(\.trial).map(asPaid)
    return (trials + life.paidPeriods).filter { $0.charge.time >= span.start }.map { period in
      var seen = period
      seen.graceEnd = nil
      seen.revokedAt = nil
      seen.replacedAt = nil
      return seen
    }
  }

  private func asPaid(_ trial: TrialPeriod) -> PaidPeriod {
    var period = PaidPeriod(
      charge: Charge(
        kind: .first, transaction: trial.transaction, time: trial.start, product: trial.product,
        ordinal: nil, gross: Money(local: 0, usd: 0), rate: 0, sendsProceeds: false),
      start: trial.start, end: trial.end)
    period.canceledAt = trial.canceledAt
    period.billingIssueAt = trial.billingIssueAt
    period.isToldExpired = trial.isToldExpired
    if trial.billingIssueAt != nil, trial.isToldExpired { period.gaveUpAt = trial.end + 60 * day }
    return period
  }

  /// Whether the ledger knows whose the period is: by its own line, or for Play by another line of
  /// the same order.
  private func hasUser(_ period: PaidPeriod) -> Bool {
    let transaction = period.charge.transaction
    return life.happenings.contains { happening in
      let isSame =
        isPlay
        ? happening.transaction.base == transaction.base : happening.transaction == transaction
      return isSame && life.namesFlobukUser(happening)
    }
  }
}
