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
  /// Entitlements that no lineage could be told for, and active subscriptions that what is shown of
  /// another one may hide; they are not guessed.
  public var unmatchedEntitlements: Int64 = 0
  /// Snapshot transactions before the first event ever ingested for their app.
  public var beforeFirstEvent: Int64 = 0

  /// Revoked subscriptions of a provider that tells no refund of them.
  public var refundsNeverTold: Int64 = 0

  /// Subscriptions that the snapshot lacks, and that a collection without a date may have ended.
  public var endsWithoutDate: Int64 = 0

  /// Nothing seen yet.
  public init() {}

  /// Adds what was seen of another user.
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
}

/// The breaks of one user, and what was left out on purpose.
public struct ReconciliationResult: Sendable, Equatable {
  /// Sorted by id, each id once.
  ///
  /// Two users whose snapshots name one lineage raise the same id; the caller keeps one of them.
  public var breaks: [Break] = []
  /// Ends that count as churn although an event that never came may say otherwise.
  public var churnInDoubt: Set<ChurnInDoubt> = []
  /// For the manifest.
  public var counts = ReconciliationCounts()

  /// Nothing found yet.
  public init() {}
}
