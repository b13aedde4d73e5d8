import Subscriptions
public import Domain

/// An end that counts as churn and that a `MISSED_*` break covers.
public struct ChurnInDoubt: Sendable, Hashable {
  /// Key of the lineage that ended.
  public var lineage: Int64
  /// The row of the churn report that counts it.
  public var productKey: ProductKey
  /// The effective end, by which it is counted.
  public var at: Instant

  /// The end of `lineage` at `at`.
  public init(lineage: Int64, productKey: ProductKey, at: Instant) {
    self.lineage = lineage
    self.productKey = productKey
    self.at = at
  }
}

/// The time that a missing event speaks of.
struct Doubt {
  var from: Instant
  var until: Instant

  /// About an event expected at one moment; an end counts when it is within `gap` of it.
  init?(_ draft: BreakDraft, gap: Interval) {
    guard draft.code.isMissing, !draft.isMereInformation, let at = draft.expectedAt else {
      return nil
    }
    (from, until) = (at - gap, at + gap)
  }

  /// About the period that a missing charge paid for; nil when its end is not known.
  init?(_ charge: MissingCharge) {
    guard let at = charge.at, let end = charge.end, at < end else { return nil }
    (from, until) = (at, end)
  }

  /// The end of a missing period is an end like others.
  func covers(_ instant: Instant) -> Bool { from <= instant && instant < until }
}

extension LineageInput {
  /// The ends among those known at as-of that one of `doubts` covers.
  func churnInDoubt(_ doubts: [Doubt]) -> [ChurnInDoubt] {
    latest.churned.filter { end in doubts.contains { $0.covers(end.at) } }.map { end in
      ChurnInDoubt(
        lineage: latest.lineage,
        productKey: ProductKey(
          provider: latest.provider, app: latest.app, store: latest.store, product: end.product),
        at: end.at)
    }
  }
}
