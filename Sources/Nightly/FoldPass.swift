import Ledger
import Reconcile
import Timeline
import Vocabulary

/// Ledger → facts: every fold group is folded once, stretches of the ledger in parallel.
struct FoldPass {
  let ledger: Ledger
  let cases: CaseBuilder
  let rules: ReconcileRules
  /// Providers whose lineages reconciliation reads anyhow, because it has snapshots of them.
  let reconciled: Set<Provider>
  /// How many stretches are folded at once.
  let jobs: Int
  let checkStop: () throws(NightError) -> Void

  /// What the fold of the whole ledger came to.
  struct Result: Sendable {
    var facts = Facts()
    /// What single events show to be wrong.
    var breaks: [Break] = []
    /// What charges paid for their currencies.
    var rates = ExchangeRates()
    /// What renewals cost.
    var prices = PaidPrices()
    /// Ends that events alone cast doubt on.
    var churnInDoubt: Set<ChurnInDoubt> = []
  }

  func run() throws(NightError) -> Result {
    var result = Result()
    let stretch = LineageStretch(path: ledger.path, rules: rules, reconciled: reconciled)
    try attempt {
      try Workers(count: jobs).run(lineageKeys(shares: jobs), stretch.fold) { _, message in
        switch message {
        case .going: try checkStop()
        case .folded(let part):
          try result.facts.add(part.facts)
          result.breaks += part.breaks
          result.rates.add(part.rates)
          result.prices.add(part.prices)
          result.churnInDoubt.formUnion(part.churnInDoubt)
        case .failed(let error): throw error
        }
      }
      for conflict in try ledger.conflicts() { try judge(conflict, &result) }
    }
    let across = AcrossLineages(ledger: ledger, cases: cases, rules: rules, checkStop: checkStop)
    result.breaks += try across.exchangeOutliers(result.rates)
    result.breaks += try across.environmentLeaks()
    return result
  }

  private func judge(_ row: ConflictRow, _ result: inout Result) throws {
    guard row.event.time < rules.rules.asOf else { return }
    let group = try ledger.group(of: row.lineage)
    let lineages = try cases.lineages(
      group, try ledger.events(of: group), at: rules.rules.asOf)
    let lineage = lineages.first { $0.state.lineages.contains(row.lineage.key) }
    guard let lineage else { return }
    let conflict = EventConflict(
      identity: row.identity, transaction: row.event.transaction, time: row.event.time,
      product: row.event.product, versions: row.places.count, fields: row.fields)
    result.breaks.append(conflictBreak(conflict, lineage: lineage, rules: rules))
  }
}

/// All keys of lineages and users in `shares` stretches; keys are fingerprints, so equal widths
/// hold about equally many.
func lineageKeys(shares: Int) -> [ClosedRange<Int64>] {
  let width = UInt64.max / UInt64(max(1, shares))
  // Flipping the sign bit keeps the order from unsigned to signed.
  let starts = (0..<max(1, shares)).map { Int64(bitPattern: UInt64($0) * width ^ 1 << 63) }
  return starts.indices.map { index in
    starts[index]...(index + 1 < starts.count ? starts[index + 1] - 1 : .max)
  }
}

/// The parallel part: the fold groups of one stretch, by a connection of its own.
private struct LineageStretch: Sendable {
  /// What a worker tells, in this order.
  enum Message: Sendable {
    /// Some hundred groups more are done.
    case going
    case folded(FoldPass.Result)
    case failed(any Error)
  }

  let path: String
  let rules: ReconcileRules
  let reconciled: Set<Provider>

  private struct NotWanted: Error {}

  func fold(_ keys: ClosedRange<Int64>, _ tell: (Message) -> Bool) {
    do {
      var result = FoldPass.Result()
      var groups = 0
      let ledger = try Ledger.open(path: path, mode: .readOnly)
      let cases = CaseBuilder(ledger: ledger, rules: rules.rules)
      try ledger.forEachGroup(keys: keys) { rows, events in
        try fold(rows, events, cases, &result)
        groups += 1
        guard groups % 512 > 0 || tell(.going) else { throw NotWanted() }
      }
      _ = tell(.folded(result))
    } catch is NotWanted {
      // The night was stopped and says so itself.
    } catch {
      _ = tell(.failed(error))
    }
  }

  private func fold(
    _ group: [LineageRow], _ events: [Event], _ cases: CaseBuilder, _ result: inout FoldPass.Result
  ) throws {
    for life in try lives(of: events, rules: rules.rules) {
      try life.book(into: &result.facts)
      life.book(into: &result.rates)
      life.book(into: &result.prices)
      guard !life.findings.isEmpty || life.hasLooseEnds,
        let lineage = try cases.lineage(life, group, events)
      else { continue }
      result.breaks += breaks(from: life.findings, lineage: lineage, rules: rules)
      // Reconciliation walks over users; a lineage without one is met only here.
      let isMet = reconciled.contains(lineage.state.provider) && group[0].user != 0
      guard life.hasLooseEnds, !isMet else { continue }
      let user = UserCase(
        provider: lineage.state.provider, user: lineage.user, lineages: [lineage])
      let outcome = reconcile(user, rules: rules)
      result.breaks += outcome.breaks
      result.churnInDoubt.formUnion(outcome.churnInDoubt)
    }
  }
}
