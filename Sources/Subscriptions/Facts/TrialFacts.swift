import Domain

extension SubscriptionHistory {
  /// Books trials that began before as-of by the day of their start; each is converted, expired or
  /// pending.
  func bookTrials(into books: inout Books) throws(AmountOverflow) {
    for index in periods.indices {
      let trial = periods[index]
      guard trial.isTrial, trial.start < rules.asOf else { continue }
      let key = ProductDay(day: day(trial.start), productKey: productKey(ofPeriod: index))
      var sums = TrialSums()
      sums.started = 1
      if trial.autoRenewOffSince(events, before: trial.end) != nil { sums.canceled = 1 }
      sums[keyPath: outcome(of: index)] = 1
      try books.add(.trial(key, sums), from: ContributionOrigin(.trial(index), at: trial.start))
    }
  }

  /// The measure that counts the outcome of the trial at `index`.
  private func outcome(of index: Int) -> WritableKeyPath<TrialSums, Int64> {
    let trial = periods[index]
    let next = index + 1 < periods.count ? periods[index + 1] : nil
    if let next, !next.isTrial {
      return trial.isConverted(at: next.start, events, rules) ? \.converted : \.expired
    }
    guard let end = trial.effectiveEnd else { return next == nil ? \.pending : \.expired }
    let feed = events[trial.opener].feed
    if trial.isInvoluntary(events), trial.gaveUpAt(events) == nil {
      return end + rules.retryHorizon <= rules.horizon(of: feed) ? \.expired : \.pending
    }
    return end <= rules.endsAreFinal(until: feed) ? \.expired : \.pending
  }
}
