import Domain
import EventStore
import Reconciliation
import Subscriptions

/// Reads the input of reconciliation for each user, on one connection.
struct InputReader {
  let ledger: Ledger
  let rules: ReconciliationSettings
  /// Lineages that are listed in a snapshot of a user other than that of their events.
  let transferred: Set<Int64>
  /// The keys of all lineages; nil when looking up a few is cheaper.
  private let known: KeyFilter?
  private let isLinked: Bool
  private var builder: InputBuilder
  /// The apps of each provider, for snapshots without an app.
  private let apps: [Provider: [String]]
  /// Subscriptions of the current user: there can be hundreds of thousands, and those that are
  /// folded alone are read in parts.
  private var own: [FoldGroup: [(row: LineageRow, events: [Event])]] = [:]
  private var isInParts = false
  private var groups: [Int64: LinkedGroups.Part] = [:]
  /// Whether the user's groups are read again, for another snapshot.
  private var isReadAgain = false
  private var previousOwners = PreviousOwners()
  private var validUntil: Instant? = Instant(milliseconds: .max)
  private var listed = ListedLineages()

  init(
    ledger: Ledger, rules: ReconciliationSettings, transferred: Set<Int64>, known: KeyFilter?
  ) throws {
    isLinked = try ledger.isLinked()
    self.ledger = ledger
    self.rules = rules
    self.transferred = transferred
    self.known = known
    builder = InputBuilder(ledger: ledger, rules: rules.fold)
    apps = Dictionary(grouping: rules.feeds, by: \.feed.provider).mapValues { $0.map(\.app) }
  }

  private var asOf: Instant { rules.fold.asOf }

  struct Part: Sendable {
    /// The results with breaks or doubts.
    var found: [(user: UserKey, result: ReconciliationResult)] = []
    var users: [ReconciledUser] = []
  }

  /// Compares users with the given evidence.
  mutating func compare(_ users: UserShare) throws -> Part {
    var part = Part()
    let provider = users.provider
    isReadAgain = users.evidence == .snapshot
    func compare(_ user: Int64) throws {
      let rows = try lineages(of: user, provider)
      let result = try outcome(of: [input(rows, of: provider)], rows)
      try add(result, of: user, provider, to: &part)
    }
    switch users.evidence {
    case .snapshot:
      try ledger.forEachUser(withSnapshotAsOf: asOf, provider: provider, users: users.keys) {
        let rows = try lineages(of: $0.user, provider)
        let result = try outcome(of: inputs($0, rows), rows)
        try add(result, of: $0.user, provider, $0.content, to: &part)
      }
    case .noSnapshot:
      try ledger.forEachUser(
        withoutSnapshotAsOf: asOf, provider: provider, users: users.keys, compare)
    case .webhook:
      try ledger.forEachUser(withWebhookSnapshotOf: provider, users: users.keys, compare)
    case .noUser:
      for keys in users.keys {
        guard let row = try ledger.lineage(keys.lowerBound) else { continue }
        let user = try input([row], of: provider)
        let result = try reconcile(user, rules: rules, checkStop: ledger.checkStop)
        try add(result, of: 0, provider, to: &part)
      }
    }
    return part
  }

  private mutating func add(
    _ result: ReconciliationResult, of user: Int64, _ provider: Provider,
    _ content: Int64 = 0, to part: inout Part
  ) throws {
    if !result.breaks.isEmpty || !result.churnInDoubt.isEmpty {
      var finding = result
      try finding.breaks.takeOffReports(in: ledger, by: rules)
      // The counts are in the details.
      finding.counts = [:]
      part.found.append((UserKey(provider: provider, user: user), finding))
    }
    var details = ReconciledUser.Details()
    details.foreign = listed.foreign.values.filter { $0.user != user }.map(\.key).sorted()
    details.unreported = listed.unreported.sorted()
    details.previousOwners = previousOwners.named.sorted()
    if !result.counts.isEmpty {
      details.counts = ReconciliationCount.allCases.map { result.counts[$0] ?? 0 }
    }
    let until = result.validUntil.flatMap { own in validUntil.map { min(own, $0) } }
    if user != 0 {
      part.users.append(
        ReconciledUser(
          provider: provider, user: user, snapshots: content, validUntil: until, details: details))
    }
    (previousOwners, validUntil) = (PreviousOwners(), Instant(milliseconds: .max))
    (listed, groups, own) = (ListedLineages(), [:], [:])
  }

  /// Returns the lineages of the user, whose events are kept while the user is compared.
  private mutating func lineages(of user: Int64, _ provider: Provider) throws -> [LineageRow] {
    builder.user = (user, user.userKeyText)
    let rows = try readOwn(user, provider, from: .min)
    isInParts = provider.capabilities.hasStableOriginalID && rows.count == Self.partSize
    return isInParts ? try ledger.lineages(ofUser: user, provider: provider) : rows
  }

  private static let partSize = 1 << 12

  private mutating func readOwn(
    _ user: Int64, _ provider: Provider, from key: Int64
  ) throws -> [LineageRow] {
    let isAlone = provider.capabilities.hasStableOriginalID
    let found = try ledger.lineagesWithEvents(
      ofUser: user, provider: provider, from: key, max: isAlone ? Int64(Self.partSize) : -1)
    own = Dictionary(grouping: found) { FoldGroup(of: $0.row) }
    return found.map(\.row)
  }

  private mutating func group(of row: LineageRow) throws -> LinkedGroups.Part {
    if isInParts, !isLinked, row.user == builder.user.key, own[FoldGroup(of: row)] == nil {
      _ = try readOwn(row.user, row.provider, from: row.key)
    }
    guard !isLinked, var members = own.removeValue(forKey: FoldGroup(of: row)) else {
      return try LinkedGroups.Part(of: row, in: ledger, rules: rules.fold)
    }
    if own.isEmpty { own = [:] }
    let rows = members.map(\.row)
    var events: [Event] = []
    if members.count == 1 {
      events = members[0].events
    } else {
      events.reserveCapacity(members.reduce(0) { $0 + $1.events.count })
      for member in members { events += member.events }
      members = []
      events.sortByTime()
    }
    return try LinkedGroups.Part(rows, events, rules: rules.fold)
  }

  /// Compares a user with `inputs`, and with the newest webhook of the user's lineages that
  /// contains entitlements beyond its event.
  private mutating func outcome(
    of inputs: [ReconciliationInput], _ rows: [LineageRow]
  ) throws -> ReconciliationResult {
    if rules.snapshotsFromWebhooks,
      let snapshot = try ledger.webhookSnapshot(of: rows, asOf: asOf)
    {
      // The input of a user without a snapshot is already as of the same time.
      let known = inputs.count == 1 && inputs[0].snapshot == nil ? inputs[0] : nil
      var webhook = try known ?? input(rows, of: snapshot.provider)
      (webhook.provider, webhook.snapshot) = (snapshot.provider, snapshot)
      return try reconcile(
        inputs, webhook: webhook, rules: rules, checkStop: ledger.checkStop)
    }
    return try inputs.reduce(into: ReconciliationResult()) { result, input in
      result.add(try reconcile(input, rules: rules, checkStop: ledger.checkStop))
    }
  }

  /// Returns one input for each snapshot, with the subscriptions of its app, and one for
  /// subscriptions of apps without a snapshot.
  private mutating func inputs(
    _ user: UserSnapshots, _ rows: [LineageRow]
  ) throws -> [ReconciliationInput] {
    var inputs = try user.snapshots.map { snapshot in
      try input(rows.filter { mayShow(snapshot, $0) }, user.user, snapshot)
    }
    let others = rows.filter { row in !user.snapshots.contains { mayShow($0, row) } }
    if !others.isEmpty {
      inputs.append(try input(others, of: user.provider))
      // It is compared with the newest snapshot of any user.
      validUntil = nil
    }
    return inputs
  }

  /// Whether a snapshot is of the lineage's app, or may be because one of them has no app.
  private func mayShow(_ snapshot: Snapshot, _ row: LineageRow) -> Bool {
    let app = ledger.symbols.words[Int(row.app)]
    return app == snapshot.app || app.isEmpty || snapshot.app.isEmpty
  }

  private mutating func input(
    _ own: [LineageRow], _ key: Int64, _ snapshot: Snapshot
  ) throws -> ReconciliationInput {
    let foreign = try listed.add(
      snapshot, besides: own, apps: apps[snapshot.provider, default: []], known, in: ledger)
    let found = try lineages(of: own + foreign, at: snapshot.capturedAt)
    let user = ReconciliationInput(
      provider: snapshot.provider, user: key.userKeyText, snapshot: snapshot,
      lineages: found.reported, newerLineages: found.newer)
    for lineage in found.reported + found.newer where lineage.user == user.user {
      lineage.isHeldByAnotherUser = lineage.isAmong(transferred)
    }
    return user
  }

  /// Returns the input of a user without a snapshot.
  private mutating func input(
    _ rows: [LineageRow], of provider: Provider
  ) throws -> ReconciliationInput {
    let lineages = try lineages(of: rows, at: asOf).reported
    for lineage in lineages { lineage.isHeldByAnotherUser = lineage.isAmong(transferred) }
    return ReconciliationInput(
      provider: provider, user: (rows.first?.user ?? 0).userKeyText, lineages: lineages)
  }

  /// Returns the subscriptions of `rows` before `moment`, and those that have only later events.
  private mutating func lineages(
    of rows: [LineageRow], at moment: Instant
  ) throws -> (reported: [LineageInput], newer: [LineageInput]) {
    var waiting = Set(rows.map(\.key))
    var (reported, newer): ([LineageInput], [LineageInput]) = ([], [])
    for row in rows where waiting.contains(row.key) {
      try ledger.checkStop()
      let group = try groups[row.key] ?? group(of: row)
      if isReadAgain, !isInParts { for row in group.rows { groups[row.key] = group } }
      let wanted = Set(group.rows.map(\.key).filter { waiting.remove($0) != nil })
      let words = ledger.symbols.words
      previousOwners.read(
        group.events, of: row.user, in: words[Int(row.app)], asOf: asOf, words)
      let histories = try builder.lineages(group, at: moment)
      if group.named.count > group.rows.count { validUntil = nil }
      if let next = histories.changesAt {
        validUntil = validUntil.map { min($0, next - Interval(milliseconds: 1)) }
      }
      reported += histories.reported.filter { $0.isAmong(wanted) }
      newer += histories.newer.filter { $0.isAmong(wanted) }
    }
    return (reported, newer)
  }
}

extension LineageInput {
  /// Whether one of the subscription's lineages is in `keys`.
  func isAmong(_ keys: Set<Int64>) -> Bool {
    !keys.isDisjoint(with: state.lineages)
  }
}
