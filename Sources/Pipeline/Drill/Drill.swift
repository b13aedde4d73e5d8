import EventStore
import Logging
import Reconciliation
import Domain

extension RunPipeline {
  /// Damages events in a copy of the ledger, and measures what fold and reconciliation find.
  ///
  /// The ledger itself only stores the result for `drill.csv`. As-of is that of the newest run,
  /// unless the plan has one.
  ///
  /// - Parameters:
  ///   - seed: equal seeds damage the same events in the same way.
  ///   - events: maximum number of events; each is of another user.
  public func drill(seed: UInt64, events: Int) throws -> DrillResult {
    guard (1...100_000).contains(events) else {
      throw SubledgerError(.usage, "--events must be from 1 to 100000, not \(events)")
    }
    try requireLedger(to: "drill")
    let result = try withCopy { ledger, copied in
      var dated = try copied.withLists()
      if !plan.hasExplicitAsOf, let run = try ledger.runs(newest: 1).first {
        dated.rules.asOf = run.asOf
      }
      return try following(dated).drill(seed, events, in: ledger)
    }
    do {
      try withLedger { try $0.keep(result.rows, asOf: result.asOf) }
    } catch let error as SubledgerError where error.kind == .permission {
      log.warning("the page will not show this drill: \(error)")
    }
    return result
  }

  private func drill(
    _ seed: UInt64, _ events: Int, in copy: Ledger
  ) throws -> DrillResult {
    let before = try DrillFindings(in: copy, by: self)
    try copy.learn([Self.foreignCurrency])
    let damages = try draw(events, seed, before, in: copy)
    guard !damages.isEmpty else {
      throw SubledgerError(
        .noInput, "the ledger \(plan.ledger) holds no event that a drill could damage",
        hint: "read archives first, or give an --as-of after their events")
    }
    let evidence = try evidence(of: damages, in: copy)
    let duplicates = try copy.apply(damages, seed: seed)
    var result = DrillResult(
      asOf: plan.rules.asOf, before: before, after: try DrillFindings(in: copy, by: self))
    result.count(damages, evidence, duplicates: duplicates)
    return result
  }

  /// The code that ISO 4217 reserves for tests.
  private static let foreignCurrency = "XTS"

  private func draw(
    _ count: Int, _ seed: UInt64, _ before: DrillFindings, in copy: Ledger
  ) throws -> [Damage] {
    var sample = DrillSample(seed: seed, count: count, asOf: plan.rules.asOf)
    try copy.forEachLineage { row, events in
      try checkStop()
      guard before.troubled.isDisjoint(with: row.holders) else { return }
      for event in events { sample.offer(event, of: row) }
    }
    let newest = Dictionary(
      uniqueKeysWithValues: try plan.feeds(of: copy).map { ($0.feed, $0.newest) })
    let rules = try reconcileRules(for: copy).fold
    return try sample.chosen.compactMap { candidate in
      let row = candidate.row
      let limits = DamageLimits(
        window: plan.rules.deliveryWindow(row.provider),
        newest: newest[Feed(provider: row.provider, app: row.app)] ?? plan.rules.asOf,
        foreignCurrency: copy.symbol(Self.foreignCurrency) ?? 0, rates: before.rates, rules: rules)
      let group = try copy.events(of: try copy.group(of: row))
      return try Damage.drawn(for: candidate, among: group, within: limits)
    }
  }

  /// Collects what the rest of the ledger can show of the removed events.
  private func evidence(of damages: [Damage], in copy: Ledger) throws -> DrillEvidence {
    var evidence = DrillEvidence()
    for candidate in damages.filter({ $0.kind == .removed }).map(\.candidate) {
      let rows = try copy.lineages(ofUser: candidate.row.user, provider: candidate.row.provider)
      evidence.events[candidate.holder] = try copy.events(of: rows.isEmpty ? [candidate.row] : rows)
        .filter { $0.time < plan.rules.asOf }
    }
    try copy.forEachUser(withSnapshotAsOf: plan.rules.asOf) { current in
      let holder = UserKey(provider: current.provider, user: current.user)
      guard evidence.events[holder] != nil, let snapshot = current.snapshots.last else { return }
      evidence.snapshots[holder] = snapshot
    }
    evidence.allFirst = Dictionary(
      try plan.feeds(of: copy).map { ($0.feed.provider, $0.begin) }, uniquingKeysWith: max)
    return evidence
  }
}
