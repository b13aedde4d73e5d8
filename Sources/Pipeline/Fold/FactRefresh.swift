import EventStore
import Reconciliation
import Reports
import Subscriptions
import Domain

/// Computes the changes of the ledger's cells, and the breaks that events alone show: from
/// everything, or only from the parts that a run can have changed.
struct FactRefresh {
  let pipeline: RunPipeline
  let ledger: Ledger
  let rules: ReconciliationSettings
  /// Whether the ledger contains only the events of the parts that may have changed.
  let isPart: Bool

  private var jobs: Int { pipeline.plan.jobs }

  /// Thrown when a part of all events is not enough, or would take more memory than all.
  struct NeedsEverything: Error {}

  func run() throws -> Folded {
    let charges = try pipeline.chargeRows(of: ledger, rules.fold)
    if let previous = try pipeline.previousMonths(of: ledger),
      let scope = try FoldScope(of: ledger, rules: rules, by: pipeline)
    {
      do {
        let outcome = try ledger.atOneMoment { try dirtyGroups(scope, previous, charges) }
        if try outcome.charges.agrees(with: previous) { return outcome }
      } catch is NeedsEverything {}
    }
    guard !isPart else { throw NeedsEverything() }
    let pass = FoldPass(
      ledger: ledger, rules: rules, jobs: jobs, charges: charges,
      progress: pipeline.progress(of: .fold))
    return try pass.run()
  }

  private func dirtyGroups(
    _ scope: FoldScope, _ previous: PreviousMonths, _ charges: ChargeRowWriter
  ) throws -> Folded {
    let basis = scope.basis
    var list = ChargeList(spillPath: ledger.path + "-charges")
    var breaks = try ledger.standingBreaks()
    let leaked = Set(breaks.lazy.filter { $0.code == .envLeak }.map(\.lineage))
    let increment = Increment(
      fold: GroupFold(rules: rules), scope: scope, previous: rules.fold.at(basis), leaked: leaked,
      charges: charges)
    let result = try increment.run(on: ledger, jobs: jobs, &list)
    let members = result.members
    breaks.removeAll { members.contains($0.lineage) }
    let ratesBefore = try ledger.rates()
    var addedRates = ExchangeRates(result.change.rates)
    addedRates.removeZeros()
    var rates = ratesBefore
    rates.add(addedRates)
    rates.removeZeros()
    let changed = Dictionary(
      uniqueKeysWithValues: addedRates.charges.keys.map { ($0, rates.charges[$0] ?? [:]) })
    let added = result.change.prices.filter { $0.value != 0 }
    let paidBefore = try ledger.paidPrices()
    let paid = added.isEmpty ? paidBefore : paidBefore.merging(added, uniquingKeysWith: +)
    try across(result, (ratesBefore, rates), (paidBefore, paid), &breaks)
    var change = result.change
    (change.breaks, change.prices, change.groups) = (breaks + change.breaks, added, basis.groups)
    return Folded(
      basis: basis, result: change,
      doubtsBefore: try ledger.churnDoubts(), rates: ExchangeRates(changed),
      prices: PaidPrices(paid), allRates: rates, charges: list,
      previous: previous.adding(change.facts.revenue), lineages: members, users: result.users)
  }

  /// Updates the breaks across lineages, by the prices and rates before and after this run.
  private func across(
    _ result: Increment.Result, _ rates: (before: ExchangeRates, now: ExchangeRates),
    _ paid: (before: [PaidPrice: Int64], now: [PaidPrice: Int64]), _ breaks: inout [Break]
  ) throws {
    let across = CrossLineageChecks(ledger: ledger, rules: rules)
    breaks += try across.conflicts { result.members.contains($0) }
    breaks += try across.environmentLeaks(in: result.mayLeak)
    func addOutliers(
      _ outliers: any ChargeOutliers, _ code: BreakCode, areInMembers: Bool
    ) throws {
      if !areInMembers {
        guard !isPart else { throw NeedsEverything() }
        breaks.removeAll { $0.code == code }
      }
      breaks += try across.chargeOutliers(outliers, in: areInMembers ? result.members : nil)
    }
    // All charges at a new price are in the groups that changed.
    let prices = PriceOutliers(paid.now)
    let hasSamePrices = prices.among(paid.before) == PriceOutliers(paid.before).among(paid.now)
    try addOutliers(prices, .priceOutlier, areInMembers: hasSamePrices)
    // Another median may change the result for charges of any lineage.
    let outliers = ExchangeOutliers(rates.now)
    let hasSameMedians = outliers == ExchangeOutliers(rates.before)
    try addOutliers(outliers, .fxOutlier, areInMembers: hasSameMedians)
  }
}

/// The result of the fold: facts, or changes to them, and the breaks that events alone show.
struct Folded {
  /// The previous checkpoint of the cells; nil after a full fold.
  var basis: FactCheckpoint?
  /// The result for all groups, or the changes; breaks and number of groups are those of all.
  var result: FoldResult
  /// A file with more cells to add.
  var cells: RowFile?
  /// Revenue that did not fit into memory with the other facts.
  var revenueSpill: RevenueSpill?
  /// Ends in doubt that the cells already count.
  var doubtsBefore: Set<ChurnInDoubt>
  /// The rates of all days, or of the changed ones.
  var rates: ExchangeRates
  /// Numbers of renewals per price, and the exchange rates of all charges.
  var prices: PaidPrices
  var allRates: ExchangeRates
  /// The list of charges, or its changes.
  var charges: ChargeList
  /// The months that the changes affect; nil when the list is complete.
  var previous: PreviousMonths?
  /// The lineages that were folded, and the users of their events; empty after a full fold.
  var lineages: Set<Int64> = []
  var users: Set<UserKey> = []

  var isWhole: Bool { basis == nil }
}

extension Folded {
  init(_ whole: FoldResult, _ charges: ChargeList, _ revenueSpill: RevenueSpill? = nil) {
    let rates = ExchangeRates(whole.rates)
    self.init(
      basis: nil, result: whole, revenueSpill: revenueSpill, doubtsBefore: [], rates: rates,
      prices: PaidPrices(whole.prices), allRates: rates, charges: charges)
    result.rates = [:]
  }

  /// Returns the run's changes to the ledger's cells, whose new checkpoint is `basis`.
  func change(
    _ reconciled: Reconciled, basis: FactCheckpoint, calendar: CivilCalendar
  ) -> FoldChange {
    var (facts, due) = (result.facts, result.due)
    let now = reconciled.result.churnInDoubt
    facts.book(now.subtracting(doubtsBefore), 1, calendar)
    facts.book(doubtsBefore.subtracting(now), -1, calendar)
    // A break from reconciliation replaces the fold's with the same id.
    let hidden = Set(reconciled.result.breaks.map(\.id))
    for found in result.breaks where hidden.contains(found.id) {
      due.append(DueLineage(lineage: found.lineage, deadline: basis.asOf))
    }
    var basis = basis
    (basis.groups, basis.reconciliation) = (result.groups, reconciled.rules)
    var change = FoldChange(basis: basis, facts: facts)
    (change.isWhole, change.revenueSpill, change.due) = (isWhole, revenueSpill, due)
    (change.doubts, change.rates, change.prices) = (now, rates, result.prices)
    (change.overlaps, change.linked) = (result.overlaps, result.linked)
    (change.users, change.isEveryUser) = (reconciled.users, reconciled.isWhole)
    return change
  }
}

extension Facts {
  /// Counts the ends that a missing event may contradict, in addition to their churn.
  mutating func book(_ doubtful: Set<ChurnInDoubt>, _ count: Int64, _ calendar: CivilCalendar) {
    for end in doubtful {
      let key = MovementKey(
        month: calendar.month(of: end.at), productKey: end.productKey, movement: .churnedInDoubt)
      movements[key, default: MovementSums()].subscriptions += count
    }
  }
}
