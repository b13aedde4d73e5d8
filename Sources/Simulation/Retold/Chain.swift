import Domain

/// Paid periods of one user, in order of time, as a provider that does not tell all of them lets
/// them be put together.
struct Chain {
  /// The free start, when it is told as one.
  var trial: TrialPeriod?
  private(set) var periods: [PaidPeriod] = []

  /// Appends a period without what no provider but Qonversion tells: the end of grace.
  ///
  /// Without it access ends with the period that was paid.
  mutating func append(_ period: PaidPeriod) {
    var period = period
    period.graceEnd = nil
    periods.append(period)
  }

  /// The whole chain as one subscription, its renewals counted from its start.
  ///
  /// - Parameter startIsSeen: whether nothing proves a life before the first period.
  func subscription(startIsSeen: Bool) -> Subscription? {
    guard trial != nil || !periods.isEmpty else { return nil }
    var counted = periods
    var ordinal: Int32? = startIsSeen ? 0 : nil
    for index in counted.indices {
      if counted[index].charge.kind == .renewal { ordinal = ordinal.map { $0 + 1 } }
      counted[index].charge.ordinal = counted[index].charge.kind == .renewal ? ordinal : nil
    }
    let first = periods.first?.charge.transaction ?? TransactionNumber(base: 0, index: 0)
    return Subscription(
      trial: trial, periods: counted,
      original: startIsSeen ? first : TransactionNumber(base: -1, index: 0))
  }
}

extension Life {
  /// All paid periods in order of time.
  var paidPeriods: [PaidPeriod] { subscriptions.flatMap(\.periods) }

  /// The paid period that a happening speaks of.
  func period(of happening: Happening) -> PaidPeriod? {
    guard case .period(let subscription, let index) = happening.part,
      life(subscription, has: index)
    else { return nil }
    return subscriptions[subscription].periods[index]
  }

  /// The trial that a happening speaks of.
  func trial(of happening: Happening) -> TrialPeriod? {
    guard case .trial(let subscription) = happening.part else { return nil }
    return subscriptions[subscription].trial
  }

  /// The one-time purchase that a happening speaks of.
  func purchase(of happening: Happening) -> Charge? {
    guard case .purchase(let index) = happening.part else { return nil }
    return purchases[index]
  }

  /// The paid period before the one that a happening speaks of, in the same subscription.
  func previousPeriod(of happening: Happening) -> PaidPeriod? {
    guard case .period(let subscription, let index) = happening.part, index > 0,
      life(subscription, has: index - 1)
    else { return nil }
    return subscriptions[subscription].periods[index - 1]
  }

  private func life(_ subscription: Int, has period: Int) -> Bool {
    subscriptions.indices.contains(subscription)
      && subscriptions[subscription].periods.indices.contains(period)
  }
}
