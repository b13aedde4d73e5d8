import EventStore
import Reconciliation
import Reports
import Subscriptions
import Domain

/// Folds every group of the ledger once into facts, ranges of keys in parallel.
struct FoldPass {
  let ledger: Ledger
  let rules: ReconciliationSettings
  let jobs: Int
  /// Writes the list of charges in addition to the facts; nil for none.
  var charges: ChargeRowWriter?
  /// Reports how many ranges are folded, and how many there are.
  var progress: (Int, Int) -> Void = { _, _ in }

  func run() throws -> Folded {
    var sum = FullFold(ledger: ledger)
    let list = Shared(ChargeList(spillPath: ledger.path + "-charges"))
    try forEachPart { part in
      try list.change { try $0.add(part) }
    } add: { part in
      try sum.result.add(part)
    } addRevenue: { revenue, parts in
      try sum.add(revenue, parts: parts)
    }
    try sum.finish()
    let across = CrossLineageChecks(ledger: ledger, rules: rules)
    sum.result.breaks += try across.breaksOfGroups()
    sum.result.breaks += try across.chargeOutliers(
      ExchangeOutliers(ExchangeRates(sum.result.rates)), PriceOutliers(sum.result.prices))
    return Folded(sum.result, list.value, sum.revenueSpill)
  }

  /// Folds every group; worker threads call `addCharges`, this thread calls `add` with the results
  /// of a part, and `addRevenue` with the revenue of one of so many parts.
  func forEachPart(
    addCharges: @escaping @Sendable (ChargePart) throws -> Void, add: (FoldResult) throws -> Void,
    addRevenue: ([RevenueKey: RevenueSums], _ parts: Int) throws -> Void
  ) throws {
    // Small ranges have few cells, so adding them up takes little more memory than the sum, and
    // runs in parallel with the fold.
    let events = try ledger.acceptedEventLines()
    let ranges = lineageKeys(shares: max(jobs * 4, events / 16_000))
    let rangeFold = RangeFold(
      fold: GroupFold(rules: rules), charges: charges, addCharges: addCharges,
      revenueCells: events / ranges.count / 2)
    var folded = 0
    try Workers(count: jobs, waitingMax: 1).read(ledger, ranges, rangeFold.fold) { part in
      folded += 1
      progress(folded, ranges.count)
      try add(part)
      while var revenue = rangeFold.revenue.take() {
        try addRevenue(revenue, ranges.count)
        revenue.removeAll(keepingCapacity: true)
        rangeFold.spare.put(revenue)
      }
    }
    while let rest = rangeFold.sums.take() { try add(rest) }
    while var rest = rangeFold.rows.take() {
      rest.sort()
      try addCharges(rest)
    }
  }
}

/// The results of all groups, in bounded memory.
struct FullFold {
  let ledger: Ledger
  /// Maximum number of revenue cells added up here, in about 40 MiB; SQLite adds up the rest.
  var revenueCellsMax = 190_000
  var result = FoldResult()
  /// Revenue that is not in `result`.
  private(set) var revenueSpill: RevenueSpill?

  /// Adds the revenue of one of so many parts of about the same size.
  mutating func add(_ revenue: [RevenueKey: RevenueSums], parts: Int = 1) throws {
    let cells = result.facts.revenue.count + revenue.count
    if cells > revenueCellsMax, !result.facts.revenue.isEmpty { try spill() }
    // Avoids rehashing, which each growth of a dictionary causes.
    if result.facts.revenue.isEmpty {
      result.facts.revenue.reserveCapacity(min(revenueCellsMax, cells * parts))
    }
    result.facts.add(revenue)
  }

  /// Spills revenue that is still in `result` if a part was spilled.
  mutating func finish() throws(SubledgerError) {
    guard revenueSpill != nil else { return }
    try spill()
    result.facts.revenue = [:]
  }

  private mutating func spill() throws(SubledgerError) {
    if revenueSpill == nil { revenueSpill = try RevenueSpill(in: ledger) }
    try revenueSpill?.add(result.facts.revenue)
    result.facts.revenue.removeAll(keepingCapacity: true)
  }
}

/// Returns `shares` ranges that cover all keys of lineages and users; keys are fingerprints, so
/// ranges of equal width contain about equally many.
func lineageKeys(shares: Int) -> [ClosedRange<Int64>] {
  let width = UInt64.max / UInt64(max(1, shares))
  // Flipping the sign bit preserves the order from unsigned to signed.
  let starts = (0..<max(1, shares)).map { Int64(bitPattern: UInt64($0) * width ^ 1 << 63) }
  return zip(starts, starts.dropFirst().map { $0 - 1 } + [.max]).map { $0...$1 }
}

/// Folds the groups in a range of keys, on the connection of a worker.
private struct RangeFold: Sendable {
  let fold: GroupFold
  let charges: ChargeRowWriter?
  /// Receives rows of the list of charges, on any thread.
  let addCharges: @Sendable (ChargePart) throws -> Void
  /// The approximate number of revenue cells, so that the dictionary need not grow.
  let revenueCells: Int
  /// Results of earlier ranges that were not sent yet: small tables are added up once per worker,
  /// not once per range.
  let sums = Pool<FoldResult>()
  /// The revenue of the current range, and the emptied dictionaries for reuse.
  let revenue = Pool<[RevenueKey: RevenueSums]>()
  let spare = Pool<[RevenueKey: RevenueSums]>()
  /// Rows of the list of charges that are too few to be sent.
  let rows = Pool<ChargePart>()

  func fold(_ ledger: Ledger, _ keys: ClosedRange<Int64>) throws -> FoldResult {
    var result = sums.take() ?? FoldResult()
    result.facts.revenue = spare.take() ?? [:]
    result.facts.revenue.reserveCapacity(revenueCells)
    let builder = InputBuilder(ledger: ledger, rules: fold.rules.fold)
    var writer = charges.map { ChargeFold($0, ledger, take: addCharges) }
    var rows = self.rows.take() ?? writer?.emptyPart ?? ChargePart()
    try ledger.forEachGroup(keys: keys, linked: true) { group, events in
      var own = ChargeFold.Group(rows: group, events: events)
      try fold.fold(group, events, builder, into: &result) {
        try writer?.write($0, of: &own, to: &rows)
      }
    }
    if writer != nil { self.rows.put(rows) }
    let part = result.takePart()
    revenue.put(result.facts.revenue)
    result.facts.revenue = [:]
    sums.put(result)
    return part
  }
}

extension RunPipeline {
  /// Folds and reconciles the whole `ledger` without changing it.
  func wholeOutcome(
    of ledger: Ledger, by rules: ReconciliationSettings
  ) throws -> (fold: Folded, reconciled: ReconciliationResult) {
    ledger.stop = stop
    let fold = try FoldPass(ledger: ledger, rules: rules, jobs: plan.jobs).run()
    let known = try rules.knowing(fold, in: ledger)
    let pass = ReconcilePass(
      ledger: ledger, rules: known, proving: fold.result.proving, jobs: plan.jobs)
    return (fold, try pass.run().result)
  }
}
