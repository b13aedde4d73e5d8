import Formats
import Domain

/// The content of a Qonversion body, checked, before it is stored.
struct QonversionBody {
  var draft: EventDraft
  var roundedAmounts: Int64 = 0
  /// The body's entitlements if they contain more than the event, else none.
  var entitlements: [Entitlement] = []

  /// A charge or refund whose money is not marked as price or proceeds.
  var lacksIsProceed: Bool {
    let (event, kind) = (draft.event, draft.event.kind)
    guard let revenue = event.revenue, revenue.isProceed == nil else { return false }
    return kind.chargeKind != nil || kind.isRefund || kind.isProductChange
  }
}

extension Event {
  /// When the subscription began at the latest if none of its periods was longer than this one, a
  /// trial and a period of grace included; nil but for its first twelve renewals.
  var earliestStart: Instant? {
    guard let count = renewalCount, (1...12).contains(count), let start = periodStart,
      let end = periodEnd, start < end, end.since(start) < .days(400)
    else { return nil }
    let length = end.since(start).milliseconds
    return start - .days(31) - Interval(milliseconds: length * (Int64(count) + 1))
  }
}
