import EventStore
import Reconciliation
import Subscriptions
import Domain

/// Ledger and snapshots → breaks, user by user.
struct ReconcilePass {
  let ledger: Ledger
  let cases: InputBuilder
  let rules: ReconciliationSettings
  let checkStop: () throws(SubledgerError) -> Void
  private var formerUsers = FormerUsers()

  init(
    ledger: Ledger, cases: InputBuilder, rules: ReconciliationSettings,
    checkStop: @escaping () throws(SubledgerError) -> Void
  ) {
    self.ledger = ledger
    self.cases = cases
    self.rules = rules
    self.checkStop = checkStop
  }

  private var asOf: Instant { rules.fold.asOf }

  /// Compares every user of `providers`, with a snapshot or without.
  mutating func run(_ providers: Set<Provider>) throws(SubledgerError) -> ReconciliationResult {
    var outcome = ReconciliationResult()
    try attempt {
      let transferred = try transferredLineages()
      try ledger.forEachUser(withSnapshotAsOf: asOf) { current in
        for user in try userCases(current, transferred) {
          outcome.take(reconcile(user, rules: rules))
        }
        try checkStop()
      }
      for provider in providers.sorted(by: { $0.rawValue < $1.rawValue }) {
        try ledger.forEachUser(
          withoutSnapshotIn: Instant(milliseconds: .min)...asOf, provider: provider
        ) { user in
          let rows = try ledger.lineages(ofUser: user, provider: provider)
          outcome.take(reconcile(try userCase(rows, of: provider, transferred), rules: rules))
          try checkStop()
        }
      }
    }
    outcome.breaks.removeAll(where: formerUsers.contradict)
    return outcome
  }

  /// A case for each snapshot, of what was bought in its app, and one for what was bought in apps
  /// that no snapshot speaks of.
  private mutating func userCases(
    _ user: UserSnapshots, _ transferred: Set<Int64>
  ) throws -> [ReconciliationInput] {
    let rows = try ledger.lineages(ofUser: user.user, provider: user.provider)
    var cases = try user.snapshots.map { snapshot in
      try userCase(rows.filter { mayShow(snapshot, $0) }, user.user, snapshot, transferred)
    }
    let others = rows.filter { row in !user.snapshots.contains { mayShow($0, row) } }
    if !others.isEmpty { cases.append(try userCase(others, of: user.provider, transferred)) }
    return cases
  }

  /// Whether a snapshot is of the lineage's app; where one of both names none, it may be.
  private func mayShow(_ snapshot: Snapshot, _ row: LineageRow) -> Bool {
    let app = ledger.symbols.words[Int(row.app)]
    return app == snapshot.app || app.isEmpty || snapshot.app.isEmpty
  }

  private mutating func userCase(
    _ known: [LineageRow], _ key: Int64, _ snapshot: Snapshot, _ transferred: Set<Int64>
  ) throws -> ReconciliationInput {
    var rows = known
    for row in try lineages(namedIn: snapshot) where !rows.contains(where: { $0.key == row.key }) {
      rows.append(row)
    }
    var user = ReconciliationInput(
      provider: snapshot.provider, user: key.userKeyText, snapshot: snapshot)
    func marked(_ lineage: LineageInput) -> LineageInput {
      var lineage = lineage
      lineage.isHeldByAnotherUser =
        lineage.isAmong(transferred) && lineage.user == key.userKeyText
      return lineage
    }
    let found = try lineages(of: rows, at: snapshot.capturedAt)
    user.lineages = found.told.map(marked)
    user.newerLineages = found.newer.map(marked)
    return user
  }

  private mutating func userCase(
    _ rows: [LineageRow], of provider: Provider, _ transferred: Set<Int64>
  ) throws -> ReconciliationInput {
    let key = rows.first?.user ?? 0
    var user = ReconciliationInput(provider: provider, user: key.userKeyText)
    user.lineages = try lineages(of: rows, at: asOf).told.map { lineage in
      var lineage = lineage
      lineage.isHeldByAnotherUser = lineage.isAmong(transferred)
      return lineage
    }
    return user
  }

  /// The lives that `rows` are part of, as told before `moment`, and those of which all was told
  /// after it.
  private mutating func lineages(
    of rows: [LineageRow], at moment: Instant
  ) throws -> (told: [LineageInput], newer: [LineageInput]) {
    var waiting = rows
    var (told, newer): ([LineageInput], [LineageInput]) = ([], [])
    while let row = waiting.first {
      let group = try ledger.group(of: row)
      let members = Set(group.map(\.key))
      let wanted = Set(waiting.map(\.key)).intersection(members)
      waiting.removeAll { members.contains($0.key) }
      let events = try ledger.events(of: group)
      formerUsers.read(
        events, of: row.user, in: ledger.symbols.words[Int(row.app)], asOf: asOf)
      let lives = try cases.lineages(group, events, at: moment)
      told += lives.told.filter { $0.isAmong(wanted) }
      newer += lives.newer.filter { $0.isAmong(wanted) }
    }
    return (told, newer)
  }

  /// Lineages that a snapshot of somebody else than their events' user lists.
  private func transferredLineages() throws -> Set<Int64> {
    var transferred: Set<Int64> = []
    try ledger.forEachUser(withSnapshotAsOf: asOf) { current in
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
  /// Whether one of the life's lineages is one of `keys`.
  func isAmong(_ keys: Set<Int64>) -> Bool {
    !keys.isDisjoint(with: state.lineages)
  }
}

extension ReconciliationResult {
  mutating func take(_ other: ReconciliationResult) {
    breaks += other.breaks
    churnInDoubt.formUnion(other.churnInDoubt)
    counts.add(other.counts)
  }
}
