public import Domain
import Subscriptions

/// Observations that are deliberately not breaks, by their names in the manifest; the ledger stores
/// the counts in this order.
public enum ReconciliationCount: String, CaseIterable, Codable, Sendable {
  /// Users active at as-of without a snapshot, while snapshots are not declared complete.
  case usersWithoutSnapshot = "users_without_snapshot"
  /// Entitlements granted manually.
  case manualGrants = "manual_grants"
  /// Entitlements and transactions shared by a family member.
  case familyShares = "family_shares"
  /// Snapshot entitlements and transactions of the sandbox.
  case sandbox = "sandbox_in_snapshots"
  /// Entitlements without a known lineage, and active subscriptions that another shown one can
  /// hide; origins are not guessed.
  case unmatchedEntitlements = "unmatched_entitlements"
  /// Snapshot transactions before the first event ingested for their app.
  case beforeFirstEvent = "transactions_before_first_event"
  /// Revoked subscriptions of a provider that sends no refunds of subscriptions.
  case refundsNotSent = "refunds_not_sent"
  /// Subscriptions that the snapshot lacks and that a collection without a date may have ended.
  case endsWithoutDate = "ends_without_date"
}

/// The breaks of one user, and the counts of deliberate omissions.
public struct ReconciliationResult: Codable, Sendable, Equatable {
  /// The breaks sorted by id, each id once.
  ///
  /// Two users whose snapshots name one lineage raise the same id; the caller keeps one of them.
  public var breaks: [Break] = []
  /// Ends that count as churn although a missing event can contradict them.
  public var churnInDoubt: Set<ChurnInDoubt> = []
  /// Counts for the manifest.
  public var counts: [ReconciliationCount: Int64] = [:]
  /// Until when a snapshot with the same content may be captured and give the same result, as long
  /// as no event of the user arrives and no deadline passes; nil when as-of itself matters.
  public var validUntil: Instant? = Instant(milliseconds: .max)

  /// An empty result.
  public init() {}

  /// Adds the result of another comparison.
  public mutating func add(_ other: ReconciliationResult) {
    breaks += other.breaks
    churnInDoubt.formUnion(other.churnInDoubt)
    counts.merge(other.counts) { $0 + $1 }
    validUntil = validUntil.flatMap { own in other.validUntil.map { min(own, $0) } }
  }
}

extension LineageInput {
  /// The ends known at as-of that one of `doubts` contains; an end of a range is an ordinary end.
  func churnInDoubt(_ doubts: [Range<Instant>]) -> [ChurnInDoubt] {
    latest.churned.filter { end in doubts.contains { $0.contains(end.at) } }.map { end in
      ChurnInDoubt(
        lineage: latest.lineage,
        productKey: ProductKey(
          provider: latest.provider, app: latest.app, store: latest.store, product: end.product),
        at: end.at)
    }
  }
}

/// Determines until when the result of a comparison remains valid, so that it need not be repeated.
///
/// Each comparison of a check with the moment that a snapshot shows uses an instant listed here,
/// perhaps shifted. An unnecessary moment costs a comparison; a missing one causes a wrong break.
extension Reconciler {
  /// Until when a snapshot with the same content shows the same; nil when as-of itself matters.
  var validUntil: Instant? {
    var until = Instant(milliseconds: .max)
    guard let entitlements = user.snapshot?.entitlements else { return until }
    let (shown, gap) = (knownAt, gap.milliseconds)
    let shifts = [0, gap, -gap, -Interval.days(1).milliseconds, -rules.endTolerance.milliseconds]
    func add(_ moments: [Instant?]) {
      for case let moment? in moments {
        for shift in shifts {
          let shifted = moment + Interval(milliseconds: shift)
          if shifted >= shown { until = min(until, shifted) }
        }
      }
    }
    var isDated = true
    for transaction in entitlements.lazy.flatMap(\.transactions) {
      // Events after as-of are not expected before it.
      if let at = transaction.at, at >= rules.fold.asOf { return nil }
      if let at = transaction.revokedAt, at >= rules.fold.asOf { return nil }
      isDated = isDated && transaction.at != nil
      add([transaction.at, transaction.expiresAt, transaction.revokedAt])
    }
    // The capture time dates what has no date.
    guard isDated else { return shown - Interval(milliseconds: 1) }
    // A lineage that begins after the capture is compared once the snapshot is newer.
    for lineage in user.lineages + user.newerLineages {
      add(moments(of: lineage.state))
      if let current = lineage.current { add(moments(of: current)) }
    }
    for entitlement in entitlements {
      add([
        entitlement.startedAt, entitlement.trialStartedAt, entitlement.firstPurchasedAt,
        entitlement.lastPurchasedAt, entitlement.expiresAt, entitlement.autoRenewOffAt,
        entitlement.expiresAt.flatMap { knownLength(of: entitlement)?.start(before: $0) },
      ])
    }
    return until
  }

  private func moments(of state: LineageState) -> [Instant?] {
    let trial = state.trials.last
    var moments = [
      state.firstEventAt, state.lastEventAt, state.periodEnd, state.reportedEnd,
      state.lastReportedEnd, state.effectiveEnd, state.unansweredEnd, trial?.end,
      trial?.convertibleUntil,
    ]
    // The ends of the years of a 12-month commitment that continues after a cancel.
    guard let cancel = state.lastCancelAt else { return moments }
    let begun = state.charges.lazy.map(\.time).min().map { min($0, cancel) } ?? cancel
    let starts = state.charges.filter { $0.kind != .renewal }.map(\.time)
    for start in [cancel, begun] + starts {
      let years = max(0, knownAt.since(start).milliseconds) / Interval.days(366).milliseconds
      moments.append(start + .days(366 * (years + 1)))
    }
    return moments
  }
}
