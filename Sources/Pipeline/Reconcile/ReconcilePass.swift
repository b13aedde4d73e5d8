import Domain
import EventStore
import Reconciliation

/// Compares the ledger with snapshots and finds breaks: users in parallel, by ranges of their keys.
struct ReconcilePass {
  let ledger: Ledger
  let rules: ReconciliationSettings
  /// Keys of the fold's groups whose events alone may prove that one is missing.
  let proving: Set<Int64>
  let jobs: Int
  /// Reports how many shares of the users are compared, and how many there are.
  var progress: (Int, Int) -> Void = { _, _ in }

  /// Compares every user of providers with snapshots, including users without one, and of other
  /// providers those with webhooks that contain more than their events, and users with a group in
  /// `proving`.
  ///
  /// After a fold of a few groups, it compares only users whose result may have changed since the
  /// last run. If two users raise the same break, the order of users decides which one is kept; it
  /// does not depend on the number of workers, and both users are compared in every run.
  func run(after fold: Folded? = nil) throws -> Reconciled {
    var outcome = try compare(after: fold)
    outcome.removeMovedAccess()
    return outcome
  }

  /// The same with breaks of access that moved to another account, which the results of all users
  /// show.
  func compare(after fold: Folded? = nil) throws -> Reconciled {
    var outcome = Reconciled(rules: rules.fingerprint)
    var scope = try ReconcileScope(of: ledger, after: fold, rules: rules)
    let ordered = rules.snapshotsTakenAt.keys.sorted { $0.rawValue < $1.rawValue }
    let webhooks = try Provider.allCases.filter { provider in
      try rules.snapshotsFromWebhooks && provider.capabilities.sendsEntitlements
        && rules.snapshotsTakenAt[provider] == nil && ledger.hasWebhookSnapshots(of: provider)
    }
    let ranges = lineageKeys(shares: max(jobs * 4, try ledger.acceptedEventLines() / 32_000))
    func shares(of providers: [Provider], _ evidence: UserShare.Evidence) -> [UserShare] {
      providers.flatMap { scope.shares(of: $0, evidence, all: ranges) }
    }
    let known = scope.isWhole && !ordered.isEmpty ? try ledger.lineageFilter() : nil
    var found: [(user: UserKey, result: ReconciliationResult)] = []
    func compare(_ users: [UserShare]) throws {
      let (rules, transferred, done) = (rules, scope.transferred, outcome.users.count)
      try Workers(count: jobs).read(ledger, users) { ledger, users in
        var reader = try InputReader(
          ledger: ledger, rules: rules, transferred: transferred, known: known)
        return try reader.compare(users)
      } take: { part in
        found += part.found
        outcome.users.append(part.users)
        progress(outcome.users.count - done, users.count)
      }
    }
    try compare(shares(of: ordered, .snapshot))
    // Users with lineages that other users' snapshots list are compared again, with this knowledge.
    let again = try scope.take(outcome.users, of: ledger)
    found.removeAll { again.contains($0.user) }
    for index in outcome.users.indices {
      outcome.users[index].removeAll { again.contains($0.key) }
    }
    try compare(ordered.flatMap { UserShare.shares(of: $0, among: again, .snapshot) })
    found.sort { $0.user < $1.user }
    try compare(shares(of: ordered, .noSnapshot) + shares(of: webhooks, .webhook))
    let compared = Set(
      outcome.users.lazy.joined().filter { webhooks.contains($0.provider) }.map(\.key))
    try compare(sharesProving(besides: compared))
    outcome.isWhole = scope.isWhole
    for finding in found { outcome.result.add(finding.result) }
    try scope.addStanding(to: &outcome, of: ledger)
    outcome.result.churnInDoubt = try counted(outcome.result.churnInDoubt)
    return outcome
  }

  /// Returns the users with a group in `proving` whom neither snapshots nor webhooks cover, and the
  /// groups without a user.
  private func sharesProving(besides compared: Set<UserKey>) throws -> [UserShare] {
    var (users, strays): (Set<UserKey>, Set<UserKey>) = ([], [])
    for row in try proving.compactMap({ try ledger.lineage($0) }) {
      if row.user == 0 {
        strays.insert(UserKey(provider: row.provider, user: row.key))
      } else if rules.snapshotsTakenAt[row.provider] == nil {
        users.insert(UserKey(provider: row.provider, user: row.user))
      }
    }
    users.subtract(compared)
    return Provider.allCases.flatMap {
      UserShare.shares(of: $0, among: users, .noSnapshot)
        + UserShare.shares(of: $0, among: strays, .noUser)
    }
  }
}

/// The result of the comparison with snapshots: breaks, of every user.
struct Reconciled {
  var result = ReconciliationResult()
  /// Results for later runs, of every user or of those that this run compared, in parts.
  var users: [[ReconciledUser]] = []
  /// The previous owners of every user's subscriptions.
  var previousOwners = PreviousOwners()
  /// Whether it compared every user.
  var isWhole = true
  /// Fingerprint of everything besides the fold that affects the comparison of every user.
  var rules: String
}

/// Some users of one provider.
struct UserShare {
  /// The evidence with which they are compared.
  enum Evidence { case snapshot, noSnapshot, webhook, noUser }

  var provider: Provider
  /// Key ranges of the users, ascending; of their lineages if these have no user.
  var keys: [ClosedRange<Int64>]
  var evidence: Evidence

  /// Returns those of `users` that are of a provider, in shares of about equal work.
  static func shares(
    of provider: Provider, among users: Set<UserKey>, _ evidence: Evidence
  ) -> [UserShare] {
    let keys = users.lazy.filter { $0.provider == provider }.map(\.user).sorted().map { $0...$0 }
    return stride(from: 0, to: keys.count, by: 256).map { start in
      UserShare(
        provider: provider, keys: Array(keys[start...].prefix(256)), evidence: evidence)
    }
  }
}
