public import Reports
public import Domain

import EventStore
import Reconciliation
import Subscriptions

/// What a drill is to do.
public struct DrillOrder: Sendable {
  /// Equal seeds damage the same events in the same way.
  public var seed: UInt64
  /// How many events at most; each is of another user.
  public var events: Int

  /// `events` damages by `seed`.
  public init(seed: UInt64, events: Int) {
    self.seed = seed
    self.events = events
  }
}

/// What a drill did and found.
public struct DrillResult: Sendable {
  /// Business time of both reconciliations.
  public let asOf: Instant
  /// Damaged events by kind of damage, in the order of `DamageKind`.
  public let damages: [(kind: String, events: Int)]
  /// By code.
  public let rows: [DrillRow]
  /// In words: each damage that nothing showed although the data could, and each break of a damaged
  /// user that the damage does not explain.
  public let notes: [String]
}

extension RunPipeline {
  /// Damages events in a copy of the ledger, and measures what fold and reconciliation find of it.
  ///
  /// The ledger itself is only read. As-of is the newest run's, unless the plan sets one.
  public func drill(_ order: DrillOrder) throws(SubledgerError) -> DrillResult {
    guard (1...100_000).contains(order.events) else {
      throw SubledgerError(.usage, "--events must be from 1 to 100000, not \(order.events)")
    }
    try requireLedger(to: "drill")
    var shadow = try plan.withLists()
    shadow.isDryRun = true
    return try following(shadow).withLedger { ledger throws(SubledgerError) in
      var dated = shadow
      if !plan.saysAsOf, let run = try attempt({ try ledger.runs(newest: 1).first }) {
        dated.rules.asOf = run.asOf
      }
      return try following(dated).drill(order, in: ledger)
    }
  }

  private func drill(_ order: DrillOrder, in copy: Ledger) throws(SubledgerError) -> DrillResult {
    let before = try DrillSight(of: copy, by: self)
    return try attempt {
      try copy.learn([Self.foreignCurrency])
      let damages = try drawDamages(order, before, in: copy)
      guard !damages.isEmpty else {
        throw SubledgerError(
          .noInput, "the ledger \(plan.ledger) holds no event that a drill could damage",
          hint: "read archives first, or give an --as-of after their events")
      }
      let testimony = try testimony(on: damages, in: copy)
      let known = try DrillPost(ledger: copy).deliver(damages, seed: order.seed)
      let after = try DrillSight(of: copy, by: self)
      var account = DrillAccount(before: before, after: after)
      account.settle(damages, testimony)
      account.settleDuplicates(damages, known: known)
      return DrillResult(
        asOf: plan.rules.asOf,
        damages: DamageKind.allCases.map { kind in
          (kind.rawValue, damages.count { $0.kind == kind })
        },
        rows: account.rows, notes: account.notes)
    }
  }

  /// ISO 4217 keeps it for tests.
  private static let foreignCurrency = "XTS"

  private func drawDamages(
    _ order: DrillOrder, _ before: DrillSight, in copy: Ledger
  ) throws -> [Damage] {
    var sample = DrillSample(seed: order.seed, count: order.events, asOf: plan.rules.asOf)
    try copy.forEachLineage { row, events in
      try checkStop()
      guard !before.hasBreak(of: row) else { return }
      for event in events { sample.offer(event, of: row) }
    }
    let newest = Dictionary(
      uniqueKeysWithValues: try copy.watermarks().map {
        (Feed(provider: $0.provider, app: $0.app), min($0.newest, plan.rules.asOf))
      })
    let foreign = copy.symbol(Self.foreignCurrency) ?? 0
    let rules = try reconcileRules(for: copy).fold
    return try sample.chosen.map { candidate in
      let row = candidate.row
      let limits = DamageLimits(
        window: plan.rules.deliveryWindow(row.provider),
        newest: newest[Feed(provider: row.provider, app: row.app)] ?? plan.rules.asOf,
        foreignCurrency: foreign, rates: before.rates, rules: rules)
      let group = try copy.events(of: try copy.group(of: row))
      return try Damage.drawn(for: candidate, among: group, within: limits)
    }
  }

  /// The evidence of removed events in the rest of the ledger.
  private func testimony(on damages: [Damage], in copy: Ledger) throws -> DrillTestimony {
    var testimony = DrillTestimony()
    for candidate in damages.filter({ $0.kind == .removed }).map(\.candidate) {
      let rows = try copy.lineages(ofUser: candidate.row.user, provider: candidate.row.provider)
      testimony.told[candidate.holder] = try copy.events(of: rows.isEmpty ? [candidate.row] : rows)
        .filter { $0.time < plan.rules.asOf }
    }
    try copy.forEachUser(withSnapshotAsOf: plan.rules.asOf) { current in
      let holder = DrillHolder(provider: current.provider, key: current.user)
      guard testimony.told[holder] != nil, let snapshot = current.snapshots.last else { return }
      testimony.witnesses[holder] = DrillWitness(snapshot)
    }
    for mark in try copy.watermarks() {
      testimony.allFirst[mark.provider] = max(
        testimony.allFirst[mark.provider] ?? mark.firstEvent, mark.firstEvent)
    }
    return testimony
  }
}
