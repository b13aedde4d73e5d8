import Domain

// The free start of a subscription.

extension CustomerSimulator {
  /// Simulates a trial; returns the conversion when there is one.
  mutating func tryOut(_ product: Int, from start: Int64) -> Charging? {
    let end = start + Product.all[product].trialDays * day
    let charge = Charge(
      kind: .first, transaction: nextTransaction(), time: start, product: product)
    var trial = AccessPeriod(charge: charge, start: start, end: end)
    recordTrial(.trialStarted, at: start, trial)
    if random.chance(700_000) { recordTrial(.other, at: start + 2 * day, trial) }
    let charging = endTrial(&trial)
    if let charging, charging.time < span.end { trial.convertedAt = charging.time }
    customer.subscriptions[current].trial = trial
    return charging
  }

  private mutating func endTrial(_ trial: inout AccessPeriod) -> Charging? {
    let draw = random.below(100)
    switch draw {
    case ..<54: return charging(.conversion, dueAt: trial.end, trial.product)
    case ..<57:
      cancelTrial(&trial)
      return charging(.conversion, dueAt: trial.end, trial.product)
    case ..<88:
      cancelTrial(&trial)
      expireTrial(&trial, at: trial.end)
      return nil
    case ..<90:
      // No cancel is sent, except so close to the end that it could still be on its way.
      if trial.end >= span.end - 49 * hour { cancelTrial(&trial) }
      expireTrial(&trial, at: trial.end)
      return nil
    default: return retryTrial(&trial)
    }
  }

  private mutating func cancelTrial(_ trial: inout AccessPeriod) {
    let decided = random.between(trial.start + hour, trial.end - 2 * hour)
    let seen = noticed(decided, within: 2 * hour, before: trial.end)
    guard seen < span.end else { return }
    trial.canceledAt = seen
    recordTrial(.trialCanceled, at: seen, trial)
  }

  private mutating func expireTrial(_ trial: inout AccessPeriod, at time: Int64) {
    guard time < span.end else { return }
    trial.hasExpired = true
    recordTrial(.trialExpired, at: time, trial)
  }

  /// The conversion could not be charged; the store tries for 60 days.
  private mutating func retryTrial(_ trial: inout AccessPeriod) -> Charging? {
    let seen = noticed(trial.end, within: 600, before: .max)
    guard seen < span.end else { return nil }
    trial.billingIssueAt = seen
    recordTrial(.trialBillingRetry, at: seen, trial)
    if random.chance(500_000) {
      let time = trial.end + random.between(2 * day, 50 * day)
      return charging(.conversion, dueAt: time, trial.product)
    }
    expireTrial(&trial, at: trial.end + 60 * day)
    return nil
  }

  private mutating func recordTrial(_ kind: EventKind, at time: Int64, _ trial: AccessPeriod) {
    let market = customer.person.market
    let price = market.money(listPrice(of: trial.product, at: trial.start), at: trial.start)
    let isOver = kind == .trialExpired || kind == .trialBillingRetry
    let state: RenewState =
      trial.billingIssueAt.map({ $0 <= time }) ?? false
      ? .billingIssue : trial.canceledAt.map({ $0 <= time }) ?? false ? .canceled : .willRenew
    record(
      Occurrence(
        kind: kind, time: time, part: .trial(subscription: current),
        transaction: trial.charge.transaction, product: trial.product, price: price,
        transactionDate: trial.start, expires: trial.end,
        access: Access(
          isActive: !isOver, started: trial.start, until: trial.end, state: state, isTrial: true,
          product: trial.product)))
  }
}
