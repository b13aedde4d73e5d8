import Vocabulary

extension Life {
  /// Trials by the day of their start: each is converted, expired or pending.
  func bookTrials<Target: Books>(into books: inout Target) {
    for index in periods.indices where periods[index].isTrial {
      let trial = periods[index]
      let key = OfferingDay(day: day(trial.start), offering: offering(trial.product))
      var sums = TrialSums()
      sums.started = 1
      if trial.autoRenewOffSince(events, before: trial.end) != nil { sums.canceled = 1 }
      switch outcome(of: index) {
      case .converted: sums.converted = 1
      case .expired: sums.expired = 1
      case .pending: sums.pending = 1
      }
      books.add(sums, to: key, from: ShareSource(.trial(index), at: trial.start))
    }
  }

  private enum TrialOutcome { case converted, expired, pending }

  private func outcome(of index: Int) -> TrialOutcome {
    let trial = periods[index]
    let next = index + 1 < periods.count ? periods[index + 1] : nil
    guard let end = trial.effectiveEnd else {
      return next.map { $0.isTrial ? .expired : .converted } ?? .pending
    }
    let collects = trial.isInvoluntary(events)
    let gaveUp = trial.gaveUpAt(events)
    if let next, !next.isTrial {
      if next.start <= end + rules.renewalGap { return .converted }
      let recovers = collects && next.start <= end + rules.retryHorizon
      return recovers && gaveUp.map({ next.start < $0 }) ?? recovers ? .converted : .expired
    }
    let first = events[0]
    let settled = rules.endsAreSettled(until: Feed(provider: first.provider, app: first.app))
    if collects, gaveUp == nil {
      return end + rules.retryHorizon <= rules.asOf ? .expired : .pending
    }
    return end <= settled ? .expired : .pending
  }
}
