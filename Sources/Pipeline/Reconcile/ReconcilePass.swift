import Domain
import EventStore
import Reconciliation
import Subscriptions

/// Ledger and snapshots → breaks: users in parallel, by ranges of their keys.
struct ReconcilePass {
  let ledger: Ledger
  let rules: ReconciliationSettings
  let jobs: Int
  /// Shows how many shares of the users are compared, and how many there are.
  var progress: (Int, Int) -> Void = { _, _ in }

  /// The result of all users.
  struct Outcome {
    var result = ReconciliationResult()
    /// What later runs need of every user, or of those that this one compared, in parts.
    var users: [[ReconciledUser]] = []
    /// Whether it compared every user.
    var isWhole = true
    /// Of all that the comparison of every user depends on, besides what the fold does.
    var rules: String
  }

  /// Compares every user of `providers`, with a snapshot or without, and of other providers those
  /// with webhooks that contain more than their events; after a fold of a few groups, only users
  /// whose result may be another one than in the last run.
  ///
  /// Where two users raise one break, the order of users decides which of them stays; it is the
  /// same however many workers there are, and both are compared in every run.
  func run(_ providers: Set<Provider>, after fold: FactRefresh.Outcome? = nil) throws -> Outcome {
    var outcome = Outcome(rules: rules.fingerprint)
    var scope = try ReconcileScope(
      of: ledger, after: fold, rules: rules, fingerprint: outcome.rules)
    let ordered = providers.sorted { $0.rawValue < $1.rawValue }
    let webhooks = try Provider.allCases.filter { provider in
      try rules.snapshotsFromWebhooks && !providers.contains(provider)
        && ledger.hasWebhookSnapshots(of: provider)
    }
    let ranges = lineageKeys(shares: max(jobs * 4, try ledger.acceptedEventLines() / 32_000))
    func shares(of providers: [Provider], _ evidence: UserShare.Evidence) -> [UserShare] {
      providers.flatMap { provider in
        scope.shares(of: provider, evidence, all: ranges).map {
          UserShare(provider: provider, keys: $0, evidence: evidence)
        }
      }
    }
    var listed: [UserKey: [Int64]] = [:]
    let known = scope.isWhole && !ordered.isEmpty ? try ledger.lineageFilter() : nil
    try compare(shares(of: ordered, .snapshot), [], known) { reader, users in
      try reader.foreignLineages(of: users)
    } take: {
      listed.merge($0) { $0 + $1 }
    }
    try scope.take(listed, of: ledger)
    outcome.isWhole = scope.isWhole
    let others = shares(of: ordered, .noSnapshot) + shares(of: webhooks, .webhook)
    let all = shares(of: ordered, .snapshot) + others
    var compared = 0
    try compare(all, scope.transferred, known) { reader, users in
      try reader.compare(users)
    } take: { part in
      compared += 1
      progress(compared, all.count)
      outcome.result.add(part.result)
      outcome.users.append(part.users)
    }
    try scope.addStanding(to: &outcome, of: ledger)
    outcome.result.churnInDoubt = try counted(outcome.result.churnInDoubt)
    return outcome
  }

  private func compare<Part: Sendable>(
    _ users: [UserShare], _ transferred: Set<Int64>, _ known: KeyFilter?,
    _ work: @escaping @Sendable (inout InputReader, UserShare) throws -> Part,
    take: (Part) -> Void
  ) throws {
    let rules = rules
    let part: @Sendable (Ledger, UserShare) throws -> Part = { ledger, users in
      var reader = try InputReader(
        ledger: ledger, rules: rules, transferred: transferred, known: known)
      return try work(&reader, users)
    }
    try Workers(count: jobs).read(ledger, users, part, take: take)
  }
}

/// Some users of one provider.
struct UserShare {
  /// What there is of them.
  enum Evidence { case snapshot, noSnapshot, webhook }

  var provider: Provider
  /// Of the users, ascending.
  var keys: [ClosedRange<Int64>]
  var evidence: Evidence
}
