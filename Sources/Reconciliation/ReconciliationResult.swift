import Subscriptions
public import Domain

/// What reconciliation saw and deliberately did not call a break.
public struct ReconciliationCounts: Sendable, Equatable {
  /// Users active at as-of without a snapshot, while snapshots are not declared complete.
  public var usersWithoutSnapshot: Int64 = 0
  /// Entitlements that somebody granted by hand.
  public var manualGrants: Int64 = 0
  /// Entitlements and transactions shared by a family member.
  public var familyShares: Int64 = 0
  /// Snapshot entitlements and transactions of the sandbox.
  public var sandbox: Int64 = 0
  /// Entitlements without a known lineage, and active subscriptions that another shown one can
  /// hide; they are not guessed.
  public var unmatchedEntitlements: Int64 = 0
  /// Snapshot transactions before the first event ever ingested for their app.
  public var beforeFirstEvent: Int64 = 0

  /// Revoked subscriptions of a provider that sends no refund of them.
  public var refundsNeverTold: Int64 = 0

  /// Subscriptions that the snapshot lacks, and that a collection without a date may have ended.
  public var endsWithoutDate: Int64 = 0

  /// Nothing seen yet.
  public init() {}

  /// Adds the counts of another user.
  public mutating func add(_ other: ReconciliationCounts) {
    usersWithoutSnapshot += other.usersWithoutSnapshot
    manualGrants += other.manualGrants
    familyShares += other.familyShares
    sandbox += other.sandbox
    unmatchedEntitlements += other.unmatchedEntitlements
    beforeFirstEvent += other.beforeFirstEvent
    refundsNeverTold += other.refundsNeverTold
    endsWithoutDate += other.endsWithoutDate
  }

  /// All of them, in one order.
  public var numbers: [Int64] {
    [
      usersWithoutSnapshot, manualGrants, familyShares, sandbox, unmatchedEntitlements,
      beforeFirstEvent, refundsNeverTold, endsWithoutDate,
    ]
  }

  /// Those of `numbers`; nil for another number of them.
  public init?(_ numbers: [Int64]) {
    guard numbers.count == self.numbers.count else { return nil }
    (usersWithoutSnapshot, manualGrants, familyShares) = (numbers[0], numbers[1], numbers[2])
    (sandbox, unmatchedEntitlements, beforeFirstEvent) = (numbers[3], numbers[4], numbers[5])
    (refundsNeverTold, endsWithoutDate) = (numbers[6], numbers[7])
  }
}

/// The breaks of one user, and the counts of deliberate omissions.
public struct ReconciliationResult: Sendable, Equatable {
  /// Sorted by id, each id once.
  ///
  /// Two users whose snapshots name one lineage raise the same id; the caller keeps one of them.
  public var breaks: [Break] = []
  /// Ends that count as churn although a missing event can contradict them.
  public var churnInDoubt: Set<ChurnInDoubt> = []
  /// Ids of breaks that events alone raise and that a webhook explains, or describes otherwise.
  public var explained: Set<String> = []
  /// For the manifest.
  public var counts = ReconciliationCounts()
  /// How late a snapshot of the same content may be captured and give the same, while no event of
  /// the user comes and no deadline of the fold passes; nil when another as-of may give another
  /// result.
  public var standsUntil: Instant? = Instant(milliseconds: .max)

  /// Nothing found yet.
  public init() {}

  /// Adds the result of another comparison.
  public mutating func add(_ other: ReconciliationResult) {
    breaks += other.breaks
    churnInDoubt.formUnion(other.churnInDoubt)
    explained.formUnion(other.explained)
    counts.add(other.counts)
    standsUntil = standsUntil.flatMap { own in other.standsUntil.map { min(own, $0) } }
  }

  /// What another comparison of the same user, by events alone, did not find.
  public func beyond(_ events: ReconciliationResult) -> ReconciliationResult {
    let (known, found) = (
      Dictionary(events.breaks.map { ($0.id, $0) }) { first, _ in first },
      Dictionary(breaks.map { ($0.id, $0) }) { first, _ in first }
    )
    var result = ReconciliationResult()
    result.breaks = breaks.filter { known[$0.id] != $0 }
    result.churnInDoubt = churnInDoubt.subtracting(events.churnInDoubt)
    result.explained = Set(known.filter { found[$0.key] != $0.value }.keys)
    result.counts.unmatchedEntitlements = counts.unmatchedEntitlements
    if standsUntil == nil || events.standsUntil == nil { result.standsUntil = nil }
    return result
  }
}

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

/// The time in which a missing event leaves an end in doubt.
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
