import Domain

// How the moments of a paid period look when they are told.

extension Story {
  /// Tells of the charge that opens a period.
  mutating func tellCharge(_ period: PaidPeriod) {
    let charge = period.charge
    let kind: EventKind
    switch charge.kind {
    case .conversion: kind = .trialConverted
    case .renewal: kind = .renewed
    case .productChange: kind = .upgraded
    case .first, .oneTime: kind = .started
    }
    var happening = happening(kind, at: charge.time, period)
    happening.revenue = charge.revenue
    happening.sendsProceeds = charge.sendsProceeds
    happening.rate = charge.rate
    happening.renewCount = charge.ordinal
    if charge.kind == .productChange {
      happening.previousProduct = life.subscriptions[current].periods.last?.charge.product
      happening.expires = charge.time
    }
    tell(happening)
  }

  /// Tells of a change without money.
  mutating func tellState(_ kind: EventKind, at time: Int64, _ period: PaidPeriod) {
    tell(happening(kind, at: time, period))
  }

  /// A message about `period`, which is the `index`th of its subscription, else the next one.
  func happening(
    _ kind: EventKind, at time: Int64, _ period: PaidPeriod, index: Int? = nil
  ) -> Happening {
    let charge = period.charge
    let part = LifePart.period(
      subscription: current, period: index ?? life.subscriptions[current].periods.count)
    return Happening(
      kind: kind, time: time, part: part, transaction: charge.transaction,
      product: charge.product, price: charge.gross, transactionDate: period.start,
      expires: period.end, graceEnd: kind == .billingRetry ? period.graceEnd : nil,
      access: access(at: time, period))
  }

  private func access(at time: Int64, _ period: PaidPeriod) -> Access {
    let end = period.graceEnd ?? period.end
    let state: RenewState
    if period.isToldExpired || period.gaveUpAt != nil {
      state = .canceled
    } else if let issue = period.billingIssueAt, issue <= time {
      state = .billingIssue
    } else if let canceled = period.canceledAt, canceled <= time {
      state = .canceled
    } else {
      state = .willRenew
    }
    return Access(
      isActive: time < end, started: firstPaid, until: end, state: state, isTrial: false,
      product: period.charge.product)
  }
}
