import Domain

/// A paid period as the archives show it, with its successor.
struct SeenPeriod {
  var period: AccessPeriod
  /// Until when the period keeps the subscription active: the next period's start if they join,
  /// otherwise the effective end; nil while no end is certain.
  var cover: Int64?
  /// The movement that made the subscription active; nil if a previous period ran up to this one.
  var entry: String?
  /// Why it ended; nil if another period joined or no end is certain.
  var exit: String?

  var product: Product { period.charge.product }
  var start: Int64 { period.start }

  func isActive(at boundary: Int64) -> Bool {
    start < boundary && (cover.map { boundary <= $0 } ?? true)
  }
}

extension Subscription {
  /// The periods whose charge the archives cover, each judged by the contract's rules.
  func seenPeriods(_ completeness: Completeness) -> [SeenPeriod] {
    let seen = periods.filter { $0.charge.time >= completeness.span.start }
    return seen.enumerated().map { index, period in
      let before = index > 0 ? seen[index - 1] : nil
      let after = index + 1 < seen.count ? seen[index + 1] : nil
      var judged = SeenPeriod(period: period, entry: entry(of: period, after: before))
      if let after, period.joins(after.charge) {
        judged.cover = after.start
      } else if after != nil || period.revokedAt != nil
        || completeness.isOver(period.effectiveEnd)
      {
        judged.cover = period.effectiveEnd
        judged.exit = Self.reason(of: period)
      }
      return judged
    }
  }

  private func entry(of period: AccessPeriod, after before: AccessPeriod?) -> String? {
    guard let before else {
      let isKnownStart =
        period.charge.kind == .conversion || period.charge.transaction == original
      return isKnownStart ? "new" : "first_seen"
    }
    if before.joins(period.charge) { return nil }
    return before.isCollected(by: period.charge) ? "recovered" : "reactivated"
  }

  private static func reason(of period: AccessPeriod) -> String {
    if period.revokedAt != nil { return "refund" }
    if period.billingIssueAt != nil { return "involuntary" }
    if period.reportedReason == .priceIncrease { return "price_increase" }
    if let canceled = period.canceledAt, canceled < period.effectiveEnd { return "voluntary" }
    return "unknown"
  }
}

extension AccessPeriod {
  /// Whether a charge continues this period: a gap of up to a day is bridged, a refund that ended
  /// access never is.
  func joins(_ next: Charge) -> Bool {
    revokedAt == nil && next.time - effectiveEnd <= Completeness.renewalGap
  }

  /// Whether the store was still retrying its payment when a charge was made.
  func isCollected(by next: Charge) -> Bool {
    let gaveUp = gaveUpAt.map { $0 <= next.time } ?? false
    return revokedAt == nil && billingIssueAt != nil && !gaveUp
      && next.time - effectiveEnd <= Completeness.retryHorizon
  }
}
