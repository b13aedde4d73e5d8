import Domain

// Paid periods: how each is charged and how it ends.

extension CustomerSimulator {
  /// The price for this customer, in millionths of the market's currency.
  func listPrice(of product: Product, at time: Int64) -> Int64 {
    let hasRisen = time >= span.priceRise && customer.person.acceptsPriceRise
    return customer.person.market.listPrice(of: product, hasRisen: hasRisen)
  }

  /// Charges, simulates the period, and returns the next charge, if any.
  mutating func pay(_ charging: Charging) -> Charging? {
    var period = AccessPeriod(
      charge: charge(charging), start: charging.start,
      end: charging.product.end(from: charging.start))
    recordCharge(period)
    let next = endPeriod(&period)
    customer.subscriptions[current].periods.append(period)
    return next
  }

  private mutating func charge(_ charging: Charging) -> Charge {
    let shop = customer.person.shop
    let market = customer.person.market
    let periods = customer.subscriptions[current].periods
    let renewals = periods.last { $0.charge.ordinal != nil }?.charge.ordinal ?? 0
    var local = listPrice(of: charging.product, at: charging.start)
    let isOffer = charging.kind == .renewal && random.chance(25_000)
    if isOffer { local = market.priced(local, 1, 2) }
    var charge = Charge(
      kind: charging.kind, transaction: nextTransaction, time: charging.time,
      product: charging.product, ordinal: charging.kind == .renewal ? renewals + 1 : nil,
      gross: market.money(local, at: charging.time),
      rate: shop.proceedsRate(at: charging.start, paidSince: firstPaid(before: charging.start)),
      sendsProceeds: shop.sendsProceeds(at: charging.time, in: span))
    charge.isOffer = isOffer
    return charge
  }

  /// When the newest subscription was first paid, if its next period starts at `start`.
  private func firstPaid(before start: Int64) -> Int64 {
    customer.subscriptions[current].periods.first?.start ?? start
  }

  func isVisible(_ period: AccessPeriod) -> Bool { period.charge.time >= span.start }

  private mutating func endPeriod(_ period: inout AccessPeriod) -> Charging? {
    let isYear = period.product == .yearly
    let draw = random.below(1_000)
    switch draw {
    case ..<(isYear ? 300 : 62): return lapse(&period, isReported: true)
    case ..<(isYear ? 310 : 67): return lapse(&period, isReported: false)
    case ..<(isYear ? 370 : 112): return failBilling(&period)
    case ..<(isYear ? 385 : 120): return takeBack(&period) ?? renew(period)
    case ..<(isYear ? 385 : 135): return upgrade(&period) ?? renew(period)
    case ..<(isYear ? 425 : 155): return downgrade(period) ?? renew(period)
    case ..<(isYear ? 435 : 167): cancel(&period)
    case ..<(isYear ? 440 : 175): refundPart(&period)
    case ..<(isYear ? 440 : 181): refundOlder(during: period)
    default: break
    }
    return renew(period)
  }

  /// The next period of the same product, rarely some hours late.
  mutating func renew(_ period: AccessPeriod, as product: Product? = nil) -> Charging {
    let product = product ?? period.charge.product
    let isFarFromEnd = period.end < span.end - 25 * hour || period.end >= span.end
    if product == period.charge.product, isFarFromEnd, random.chance(20_000) {
      let late = period.end + random.between(hour, 20 * hour)
      return Charging(kind: .renewal, time: late, start: late, product: product)
    }
    return charging(.renewal, dueAt: period.end, product)
  }

  /// A charge that is due at `start` and reported seconds later: on the same day and, if due before
  /// it, before the end of the scenario.
  mutating func charging(_ kind: ChargeKind, dueAt start: Int64, _ product: Product) -> Charging {
    let late = start + random.between(0, 90)
    let sameDay = civilDay(of: late) == civilDay(of: start)
    let time = sameDay && (late < span.end || start >= span.end) ? late : start
    return Charging(kind: kind, time: time, start: start, product: product)
  }

  /// Switches auto-renew off, which is noticed before the period ends.
  mutating func cancel(_ period: inout AccessPeriod, isTrial: Bool = false) {
    let decided = random.between(period.start + hour, period.end - (isTrial ? 2 : 3) * hour)
    let seen = noticed(decided, within: 2 * hour, before: period.end)
    guard seen < span.end else { return }
    period.canceledAt = seen
    if isTrial { return recordTrial(.trialCanceled, at: seen, period) }
    record(occurrence(.canceled, at: seen, period))
  }

  private mutating func lapse(_ period: inout AccessPeriod, isReported: Bool) -> Charging? {
    if isReported || period.end >= span.end - 49 * hour { cancel(&period) }
    guard period.end < span.end else { return nil }
    period.hasExpired = true
    record(occurrence(.expired, at: period.end, period))
    let isLost = !random.chance(220_000)
    if isLost, random.chance(20_000), isVisible(period) {
      refund(&period, at: period.end + random.between(3 * day, 20 * day), percent: 100)
    }
    return isLost ? nil : comeBack(period, after: period.end)
  }

  /// A purchase after a lapse that is too long to continue the period.
  mutating func comeBack(_ period: AccessPeriod, after end: Int64) -> Charging? {
    let time = end + random.between(3 * day, 160 * day)
    let again = charging(.first, dueAt: time, period.product)
    // Google creates a new purchase with its own order id; Apple continues under the first id.
    guard customer.person.shop.store == .playStore else { return again }
    returning = again
    return nil
  }

  /// Declines the card: some get grace, then the store retries until it gives up.
  private mutating func failBilling(_ period: inout AccessPeriod) -> Charging? {
    let seen = noticed(period.end, within: 600, before: .max)
    guard seen < span.end else { return nil }
    period.billingIssueAt = seen
    if random.chance(500_000) {
      let days: Int64 = period.product == .weekly ? 6 : 16
      period.graceEnd = period.end + days * day
    }
    record(occurrence(.billingRetry, at: seen, period))
    let end = period.effectiveEnd
    let retries = customer.person.shop.store == .playStore ? 30 * day : 59 * day
    let draw = random.below(100)
    let time: Int64
    if draw < 35, let grace = period.graceEnd {
      time = random.between(seen + hour, grace - hour)
    } else if draw < 45 {
      time = max(seen, end) + random.between(hour, 20 * hour)
    } else if draw < 70 {
      time = end + random.between(3 * day, retries - 2 * hour)
    } else {
      return giveUp(&period, at: end + retries + random.between(0, 3 * hour))
    }
    return charging(.renewal, dueAt: time, period.charge.product)
  }

  private mutating func giveUp(_ period: inout AccessPeriod, at time: Int64) -> Charging? {
    guard time < span.end else { return nil }
    period.gaveUpAt = time
    record(occurrence(.canceled, at: time, period))
    return random.chance(200_000) ? comeBack(period, after: time) : nil
  }
}

// The free start of a subscription.

extension CustomerSimulator {
  /// Simulates a trial; returns the conversion when there is one.
  mutating func tryOut(_ product: Product, from start: Int64) -> Charging? {
    let end = start + product.trialDays * day
    let charge = Charge(
      kind: .first, transaction: nextTransaction, time: start, product: product)
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
    case ..<57:
      if draw >= 54 { cancel(&trial, isTrial: true) }
      return charging(.conversion, dueAt: trial.end, trial.product)
    case ..<90:
      // Some send no cancel, except so late that it could still be in transit.
      if draw < 88 || trial.end >= span.end - 49 * hour { cancel(&trial, isTrial: true) }
      expireTrial(&trial, at: trial.end)
      return nil
    default: return retryTrial(&trial)
    }
  }

  private mutating func expireTrial(_ trial: inout AccessPeriod, at time: Int64) {
    guard time < span.end else { return }
    trial.hasExpired = true
    recordTrial(.trialExpired, at: time, trial)
  }

  /// The conversion could not be charged; the store retries for 60 days.
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
    let listed = listPrice(of: trial.product, at: trial.start)
    var occurrence = occurrence(kind, at: time, trial)
    occurrence.part = .trial(subscription: current)
    occurrence.charge.gross = customer.person.market.money(listed, at: trial.start)
    occurrence.access.isTrial = true
    occurrence.access.state = trial.known(at: time).state(isOver: false)
    record(occurrence)
  }
}

// Records the events of a paid period.

extension CustomerSimulator {
  private mutating func recordCharge(_ period: AccessPeriod) {
    let charge = period.charge
    let kind: EventKind =
      switch charge.kind {
      case .conversion: .trialConverted
      case .renewal: .renewed
      case .productChange: .upgraded
      case .first, .oneTime: .started
      }
    var occurrence = occurrence(kind, at: charge.time, period)
    occurrence.revenue = charge.revenue
    occurrence.renewCount = charge.ordinal
    if charge.kind == .productChange {
      occurrence.previousProduct = customer.subscriptions[current].periods.last?.charge.product
      occurrence.expires = charge.time
    }
    record(occurrence)
  }

  /// An occurrence of `period`, which has this index in its subscription; by default the next one.
  func occurrence(
    _ kind: EventKind, at time: Int64, _ period: AccessPeriod, index: Int? = nil
  ) -> Occurrence {
    let index = index ?? customer.subscriptions[current].periods.count
    return Occurrence(
      kind: kind, time: time, part: .period(subscription: current, period: index),
      charge: period.charge, transactionDate: period.start, expires: period.end,
      graceEnd: kind == .billingRetry ? period.graceEnd : nil, access: access(at: time, period))
  }

  private func access(at time: Int64, _ period: AccessPeriod) -> Access {
    let end = period.graceEnd ?? period.end
    let isOver = period.hasExpired || period.gaveUpAt != nil
    return Access(
      isActive: time < end, started: firstPaid(before: period.start), until: end,
      state: period.known(at: time).state(isOver: isOver), product: period.charge.product)
  }
}
