import Domain

/// Puts together what a provider of states tells: which periods follow one another, by the
/// contract's rules.
///
/// Such a provider names no kinds. A new period that continues one within the gap, or out of
/// billing retry, is a renewal, or a change of product when it is another's; else it is a start.
struct StateFold {
  let list: ListedPrices
  let shop: Shop

  /// The periods as the reports see them.
  ///
  /// - Parameters:
  ///   - lived: those that are told, in order of time.
  ///   - first: the kind of the first one.
  func periods(_ lived: [PaidPeriod], first: ChargeKind) -> [PaidPeriod] {
    var seen: [PaidPeriod] = []
    for period in lived { seen.append(self.period(period, after: seen.last, first)) }
    return seen
  }

  private func period(
    _ lived: PaidPeriod, after before: PaidPeriod?, _ first: ChargeKind
  ) -> PaidPeriod {
    var seen = lived
    var charge = lived.charge
    charge.refund = nil
    charge.kind = first
    if let before {
      // What is seen soon after the end of a period is taken to have begun with it.
      let lapse = charge.time - before.end
      if (0...Horizon.renewalGap).contains(lapse) { charge.time = before.end }
      charge.kind = kind(of: charge, after: before)
    }
    seen.charge = list.priced(charge, in: shop)
    seen.start = charge.time
    seen.replacedAt = nil
    return seen
  }

  private func kind(of charge: Charge, after before: PaidPeriod) -> ChargeKind {
    let lapse = charge.time - before.effectiveEnd
    let joins = before.revokedAt == nil && lapse <= Horizon.renewalGap
    let gaveUp = before.gaveUpAt.map { $0 <= charge.time } ?? false
    let recovers = before.billingIssueAt != nil && !gaveUp && lapse <= Horizon.retryHorizon
    guard joins || recovers else { return .first }
    return before.charge.product == charge.product ? .renewal : .productChange
  }
}

extension Life {
  /// What is told from the first charge on that the archives cover: a provider of states knows no
  /// subscription that it has not seen paid or tried.
  var happeningsSinceFirstCharge: [Happening] {
    let begin = happenings.first { $0.isSubscriptionCharge }?.time ?? .max
    return happenings.filter { happening in
      if case .purchase = happening.part { return true }
      return happening.time >= begin
    }
  }
}

extension Happening {
  /// Whether a paid period or a trial begins with it.
  var isSubscriptionCharge: Bool {
    switch kind {
    case .trialStarted, .trialConverted, .started, .renewed, .upgraded: true
    default: false
    }
  }
}
