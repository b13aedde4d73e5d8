import EventStore
import Reconciliation
import Subscriptions
import Domain

/// Ledger and snapshots → breaks: users in parallel, by ranges of their keys.
struct ReconcilePass {
  let ledger: Ledger
  let rules: ReconciliationSettings
  let jobs: Int

  /// Compares every user of `providers`, with a snapshot or without, and of other providers those
  /// with webhooks that contain more than their events.
  ///
  /// Where two users raise one break, the order of users decides which of them stays; it is the
  /// same however many workers there are.
  func run(_ providers: Set<Provider>) throws -> ReconciliationResult {
    var result = ReconciliationResult()
    var previousOwners = PreviousOwners()
    let rules = rules
    let ranges = lineageKeys(shares: max(jobs * 4, try ledger.acceptedEventLines() / 32_000))
    func users(of providers: [Provider], _ evidence: UserRange.Evidence) -> [UserRange] {
      providers.flatMap { provider in
        ranges.map { UserRange(provider: provider, keys: $0, evidence: evidence) }
      }
    }
    let ordered = providers.sorted { $0.rawValue < $1.rawValue }
    let shown = users(of: ordered, .snapshot)
    let webhooks = try Provider.allCases.filter { provider in
      try rules.snapshotsFromWebhooks && !providers.contains(provider)
        && ledger.hasWebhookSnapshots(of: provider)
    }
    let others = users(of: ordered, .noSnapshot) + users(of: webhooks, .webhook)
    let workers = Workers(count: jobs)
    var transferred: Set<Int64> = []
    try workers.read(ledger, shown) { ledger, users in
      try InputReader(ledger: ledger, rules: rules).transferredLineages(
        users.provider, users.keys)
    } take: {
      transferred.formUnion($0)
    }
    let heldByOthers = transferred
    try workers.read(ledger, shown + others) { ledger, users in
      var reader = try InputReader(ledger: ledger, rules: rules, transferred: heldByOthers)
      let result = try reader.result(of: users)
      return (result, reader.previousOwners)
    } take: { part, owners in
      result.add(part)
      previousOwners.add(owners)
    }
    result.breaks.removeAll(where: previousOwners.contradict)
    result.churnInDoubt = try counted(result.churnInDoubt)
    return result
  }
}

/// The users of one provider in a range of keys.
private struct UserRange {
  /// What there is of them.
  enum Evidence { case snapshot, noSnapshot, webhook }

  var provider: Provider
  var keys: ClosedRange<Int64>
  var evidence: Evidence
}

/// Reads what reconciliation compares of each user, on one connection.
private struct InputReader {
  let ledger: Ledger
  let rules: ReconciliationSettings
  /// Lineages that a snapshot of somebody else than their events' user lists.
  let transferred: Set<Int64>
  private let isLinked: Bool
  private let builder: InputBuilder
  private(set) var previousOwners = PreviousOwners()

  init(ledger: Ledger, rules: ReconciliationSettings, transferred: Set<Int64> = []) throws {
    isLinked = try ledger.isLinked()
    self.ledger = ledger
    self.rules = rules
    self.transferred = transferred
    builder = InputBuilder(ledger: ledger, rules: rules.fold)
  }

  private var asOf: Instant { rules.fold.asOf }

  /// Compares the users of a range with what there is of them.
  mutating func result(of users: UserRange) throws -> ReconciliationResult {
    var result = ReconciliationResult()
    let provider = users.provider
    switch users.evidence {
    case .snapshot:
      try ledger.forEachUser(withSnapshotAsOf: asOf, provider: provider, users: users.keys) {
        let rows = try ledger.lineages(ofUser: $0.user, provider: provider)
        result.add(try outcome(of: inputs($0, rows), rows))
      }
    case .noSnapshot:
      try ledger.forEachUser(
        withoutSnapshotIn: Instant(milliseconds: .min)...asOf, provider: provider,
        users: users.keys
      ) { user in
        let rows = try ledger.lineages(ofUser: user, provider: provider)
        result.add(try outcome(of: [input(rows, of: provider)], rows))
      }
    case .webhook:
      // What events alone show, the fold has found.
      try ledger.forEachUser(withWebhookSnapshotOf: provider, users: users.keys) { user in
        let rows = try ledger.lineages(ofUser: user, provider: provider)
        let alone = try input(rows, of: provider)
        result.add(try outcome(of: [alone], rows).beyond(reconcile(alone, rules: rules)))
      }
    }
    return result
  }

  /// Compares a user with `inputs`, and with the newest webhook of the user's lineages that shows
  /// more than its event.
  private mutating func outcome(
    of inputs: [ReconciliationInput], _ rows: [LineageRow]
  ) throws -> ReconciliationResult {
    var result = ReconciliationResult()
    if rules.snapshotsFromWebhooks,
      let snapshot = try ledger.webhookSnapshot(of: rows, asOf: asOf)
    {
      var webhook = try input(rows, of: snapshot.provider)
      webhook.snapshot = snapshot
      return reconcile(inputs, webhook: webhook, rules: rules)
    }
    for input in inputs { result.add(reconcile(input, rules: rules)) }
    return result
  }

  /// One input for each snapshot, with the subscriptions of its app, and one for subscriptions of
  /// apps without a snapshot.
  private mutating func inputs(
    _ user: UserSnapshots, _ rows: [LineageRow]
  ) throws -> [ReconciliationInput] {
    var inputs = try user.snapshots.map { snapshot in
      try input(rows.filter { mayShow(snapshot, $0) }, user.user, snapshot)
    }
    let others = rows.filter { row in !user.snapshots.contains { mayShow($0, row) } }
    if !others.isEmpty { inputs.append(try input(others, of: user.provider)) }
    return inputs
  }

  /// Whether a snapshot is of the lineage's app; where one of both names none, it may be.
  private func mayShow(_ snapshot: Snapshot, _ row: LineageRow) -> Bool {
    let app = ledger.symbols.words[Int(row.app)]
    return app == snapshot.app || app.isEmpty || snapshot.app.isEmpty
  }

  private mutating func input(
    _ known: [LineageRow], _ key: Int64, _ snapshot: Snapshot
  ) throws -> ReconciliationInput {
    let keys = Set(known.map(\.key))
    let rows = try known + lineages(namedIn: snapshot).filter { !keys.contains($0.key) }
    var user = ReconciliationInput(
      provider: snapshot.provider, user: key.userKeyText, snapshot: snapshot)
    func marked(_ lineage: LineageInput) -> LineageInput {
      var lineage = lineage
      lineage.isHeldByAnotherUser =
        lineage.isAmong(transferred) && lineage.user == key.userKeyText
      return lineage
    }
    let found = try lineages(of: rows, at: snapshot.capturedAt)
    user.lineages = found.reported.map(marked)
    user.newerLineages = found.newer.map(marked)
    return user
  }

  /// The input of a user without a snapshot.
  private mutating func input(
    _ rows: [LineageRow], of provider: Provider
  ) throws -> ReconciliationInput {
    let key = rows.first?.user ?? 0
    var user = ReconciliationInput(provider: provider, user: key.userKeyText)
    user.lineages = try lineages(of: rows, at: asOf).reported.map { lineage in
      var lineage = lineage
      lineage.isHeldByAnotherUser = lineage.isAmong(transferred)
      return lineage
    }
    return user
  }

  /// The subscriptions that `rows` are part of, by the events before `moment`, and the ones that
  /// have only later events.
  private mutating func lineages(
    of rows: [LineageRow], at moment: Instant
  ) throws -> (reported: [LineageInput], newer: [LineageInput]) {
    var waiting = Set(rows.map(\.key))
    var (reported, newer): ([LineageInput], [LineageInput]) = ([], [])
    for row in rows where waiting.contains(row.key) {
      let group = try LinkedGroups.Part(
        of: row, in: ledger, isLinked: isLinked, rules: rules.fold)
      let wanted = Set(group.rows.map(\.key).filter { waiting.remove($0) != nil })
      previousOwners.read(
        group.events, of: row.user, in: ledger.symbols.words[Int(row.app)], asOf: asOf)
      let histories = try builder.lineages(group, at: moment)
      reported += histories.reported.filter { $0.isAmong(wanted) }
      newer += histories.newer.filter { $0.isAmong(wanted) }
    }
    return (reported, newer)
  }

  /// Lineages that a snapshot of somebody else than their events' user lists.
  func transferredLineages(
    _ provider: Provider, _ users: ClosedRange<Int64>
  ) throws -> Set<Int64> {
    var transferred: Set<Int64> = []
    try ledger.forEachUser(withSnapshotAsOf: asOf, provider: provider, users: users) { current in
      for snapshot in current.snapshots {
        for row in try lineages(namedIn: snapshot) where row.user != current.user {
          transferred.insert(row.key)
        }
      }
    }
    return transferred
  }

  /// The lineages that a snapshot's original transaction ids lead to, in whatever app and shop.
  private func lineages(namedIn snapshot: Snapshot) throws -> [LineageRow] {
    var keys: Set<Int64> = []
    for entitlement in snapshot.entitlements where entitlement.grant != .familySharing {
      // What a family member shares stays the payer's.
      for transaction in entitlement.transactions where transaction.ownership == .owner {
        let original = transaction.originalID.isEmpty ? transaction.id : transaction.originalID
        for app in apps(of: snapshot) {
          for store in stores(of: entitlement) {
            keys.insert(
              lineageKey(
                provider: snapshot.provider, app: app, environment: transaction.environment,
                store: store, original: original))
          }
        }
      }
    }
    return try keys.sorted().compactMap { try ledger.lineage($0) }
  }

  private func apps(of snapshot: Snapshot) -> [String] {
    guard snapshot.app.isEmpty else { return [snapshot.app] }
    return rules.feeds.filter { $0.provider == snapshot.provider }.map(\.app)
  }

  private func stores(of entitlement: Entitlement) -> [Store] {
    entitlement.store == .unknown ? Store.allCases : [entitlement.store]
  }
}

extension LineageInput {
  /// Whether one of the subscription's lineages is in `keys`.
  func isAmong(_ keys: Set<Int64>) -> Bool {
    !keys.isDisjoint(with: state.lineages)
  }
}
