import Domain
import EventStore
import Formats
import Reconciliation

/// The users that a run compares: all, or those whose result may have changed since the last run.
///
/// These are users with unresolved breaks or doubts, because their texts and states depend on
/// as-of; users with a folded lineage, their own or listed in their snapshot; and users whose
/// snapshot has new content, or was captured after a time at which the result changes by itself.
struct ReconcileScope {
  /// Nil when every user is compared.
  private var users: Set<UserKey>?
  /// Providers with new snapshots: their users without one are compared with the newest.
  private var isNewlyShown: Set<Provider> = []
  /// The lineages that other users' snapshots listed before, by the user of the snapshot.
  private var listedBefore: [UserKey: [Int64]] = [:]
  /// Lineages that are listed in a snapshot of a user other than that of their events.
  private(set) var transferred: Set<Int64> = []

  var isWhole: Bool { users == nil }

  /// Creates the scope after the `fold` of this run, nil for one to which no earlier run matters.
  init(of ledger: Ledger, after fold: Folded?, rules: ReconciliationSettings) throws {
    guard let fold, let basis = fold.basis, basis.reconciliation == rules.fingerprint else {
      return
    }
    var users = fold.users
    var new: [UserKey: NewSnapshots] = [:]
    try ledger.forEachNewSnapshot(asOf: rules.fold.asOf) { provider, user, app, captured, content in
      new[UserKey(provider: provider, user: user), default: NewSnapshots(app: app)].add(
        captured, content, of: app, isLate: captured <= basis.asOf)
    }
    isNewlyShown = Set(new.keys.lazy.map(\.provider))
    try ledger.forEachReconciledUser(isAlike: !new.isEmpty) { row in
      let details = try row.details()
      if !details.foreign.isEmpty { listedBefore[row.key] = details.foreign }
      let snapshots = new.removeValue(forKey: row.key)
      let named = details.foreign + details.unreported
      if row.validUntil == nil || named.contains(where: fold.lineages.contains)
        || snapshots.map({ !$0.show(the: row) }) ?? false
      {
        users.insert(row.key)
      }
    }
    users.formUnion(new.keys)
    self.users = users
    for (key, foreign) in listedBefore where !isCompared(key) { transferred.formUnion(foreign) }
  }

  private func isCompared(_ key: UserKey) -> Bool { users?.contains(key) ?? true }

  /// The snapshots of a user that no run has compared.
  private struct NewSnapshots {
    /// The app of the first one.
    let app: Int64
    private var captured = Instant(milliseconds: .min)
    private var content: Int64 = 0
    private var mustBeCompared = false

    init(app: Int64) { self.app = app }

    /// Adds a snapshot; snapshots are passed by time.
    ///
    /// One captured before the last run may be older than the one which that run compared, and the
    /// newest of several apps does not show what the others contain.
    mutating func add(_ captured: Instant, _ content: Int64, of app: Int64, isLate: Bool) {
      self.content = captured == self.captured ? self.content ^ content : content
      self.captured = captured
      mustBeCompared = mustBeCompared || isLate || app != self.app
    }

    /// Whether they show the same as an earlier comparison.
    func show(the row: ReconciledUser) -> Bool {
      !mustBeCompared && content == row.snapshots && row.validUntil.map { captured <= $0 } ?? false
    }
  }

  /// Returns the users in shares of about equal work.
  func shares(
    of provider: Provider, _ evidence: UserShare.Evidence, all ranges: [ClosedRange<Int64>]
  ) -> [UserShare] {
    guard let users, evidence != .noSnapshot || !isNewlyShown.contains(provider) else {
      return ranges.map { UserShare(provider: provider, keys: [$0], evidence: evidence) }
    }
    return UserShare.shares(of: provider, among: users, evidence)
  }

  /// Adds the lineages of others that the snapshots of compared users list; returns the users to
  /// compare again, because one of their lineages is now listed, or no longer listed.
  mutating func take(
    _ compared: [[ReconciledUser]], of ledger: Ledger
  ) throws -> Set<UserKey> {
    let (known, before) = (transferred, Set(listedBefore.values.joined()))
    for user in compared.joined() { transferred.formUnion(try user.details().foreign) }
    let isLinked = try ledger.isLinked()
    var again: Set<UserKey> = []
    for key in before.union(transferred).subtracting(known) {
      guard let row = try ledger.lineage(key) else { continue }
      let isListed = transferred.contains(key)
      for row in isLinked ? try ledger.linkedGroup(of: row) : [row] where row.user != 0 {
        let holder = UserKey(provider: row.provider, user: row.user)
        if isCompared(holder) ? isListed : isListed != before.contains(key) {
          again.insert(holder)
        }
      }
    }
    users?.formUnion(again)
    return again
  }

  /// Adds the previous owners and counts of all users, also of those that were not compared.
  func addStanding(to outcome: inout Reconciled, of ledger: Ledger) throws {
    func add(_ user: ReconciledUser) throws {
      let details = try user.details()
      outcome.previousOwners.named.formUnion(details.previousOwners)
      for (count, number) in zip(ReconciliationCount.allCases, details.counts)
      where number != 0 {
        outcome.result.counts[count, default: 0] += number
      }
    }
    for user in outcome.users.joined() { try add(user) }
    if let users {
      let compared = Set(outcome.users.joined().map(\.key))
      try ledger.forEachReconciledUser(isAlike: false) { row in
        if !isCompared(row.key), !compared.contains(row.key) { try add(row) }
      }
      // Users without any data have no breaks.
      outcome.users.append(
        users.subtracting(compared).map {
          ReconciledUser(
            provider: $0.provider, user: $0.user, snapshots: 0,
            validUntil: Instant(milliseconds: .max), details: ReconciledUser.Details())
        })
    }
  }
}

struct UserKey: Hashable, Comparable {
  let provider: Provider
  let user: Int64

  static func < (left: UserKey, right: UserKey) -> Bool {
    (left.provider.rawValue, left.user) < (right.provider.rawValue, right.user)
  }
}

extension ReconciledUser {
  var key: UserKey { UserKey(provider: provider, user: user) }
}

extension ReconciliationSettings {
  /// SHA-256 of everything on which the comparison of every user depends, except events, snapshots,
  /// as-of and what determines the fold.
  var fingerprint: String {
    let apps = sold.map { sold in
      [sold.provider.name, sold.app, sold.store.name, sold.product].map(JSONValue.string)
    }
    let texts = apps.map { JSONValue.array($0).document() }.sorted {
      $0.lexicographicallyPrecedes($1)
    }
    let plans = Set(strings.words.compactMap(\.withoutBasePlan)).flatMap(basePlans.names)
    return sha256(
      of: JSONValue.object([
        "complete": .bool(snapshotsComplete),
        "lengths": .object(lengths.mapValues { .string("\($0)") }),
        "plans": .array(plans.sorted().map(JSONValue.string)),
        "sold": .array(texts.map { .string(String(decoding: $0, as: UTF8.self)) }),
      ]).document())
  }
}
