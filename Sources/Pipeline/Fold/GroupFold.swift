import EventStore
import Reconciliation
import Subscriptions
import Domain

/// The results of folding some groups.
struct FoldResult: Sendable {
  var facts = Facts()
  /// What events alone show to be wrong.
  var breaks: [Break] = []
  /// What charges paid for their currencies: how many at each quote.
  var rates: [ExchangeRates.Quote: Int64] = [:]
  /// What renewals cost: how many at each price.
  var prices: [PaidPrice: Int64] = [:]
  /// Ends that events alone cast doubt on.
  var churnInDoubt: Set<ChurnInDoubt> = []
  /// When the groups are to be folded again.
  var due: [DueLineage] = []
  /// How many groups were folded.
  var groups: Int64 = 0

  /// Adds the results of other groups.
  mutating func add(_ other: FoldResult) throws(AmountOverflow) {
    try facts.add(other.facts)
    breaks += other.breaks
    rates.merge(other.rates) { $0 + $1 }
    prices.merge(other.prices) { $0 + $1 }
    churnInDoubt.formUnion(other.churnInDoubt)
    due += other.due
    groups += other.groups
  }

  /// Takes out revenue, which has the most cells.
  mutating func takeRevenue() -> [RevenueKey: RevenueSums] {
    var revenue: [RevenueKey: RevenueSums] = [:]
    swap(&revenue, &facts.revenue)
    return revenue
  }

  /// Removes and returns the ordered parts.
  mutating func takePart() -> FoldResult {
    var part = FoldResult()
    swap(&part.breaks, &breaks)
    swap(&part.due, &due)
    swap(&part.groups, &groups)
    return part
  }
}

/// One fold group → facts, breaks, and when to look at it again.
struct GroupFold: Sendable {
  let rules: ReconciliationSettings
  /// Providers whose lineages reconciliation reads anyhow, because it has snapshots of them.
  let reconciled: Set<Provider>

  /// Adds the results of a group, and returns its subscriptions.
  @discardableResult
  func fold(
    _ group: [LineageRow], _ events: [Event], _ cases: InputBuilder, into result: inout FoldResult
  ) throws -> [SubscriptionHistory] {
    let histories = try histories(of: events, rules: rules.fold)
    var isWatched = false
    for history in histories {
      try history.book(into: &result.facts)
      history.book(into: &result.rates)
      history.book(into: &result.prices)
      let hasLooseEnds = rules.firstEventAt.map(history.hasLooseEnds(since:)) ?? false
      guard !history.findings.isEmpty || hasLooseEnds,
        let lineage = try cases.lineage(history, group, events)
      else { continue }
      var found = breaks(from: history.findings, lineage: lineage, rules: rules)
      // Reconciliation walks over users; a lineage without one is met only here.
      let isMet = reconciled.contains(lineage.state.provider) && group[0].user != 0
      if hasLooseEnds, !isMet {
        let user = ReconciliationInput(
          provider: lineage.state.provider, user: lineage.user, lineages: [lineage])
        let outcome = reconcile(user, rules: rules)
        found += outcome.breaks
        result.churnInDoubt.formUnion(outcome.churnInDoubt)
        // Missing events are reported anew in every run: text and status depend on as-of.
        isWatched = true
      }
      if found.contains(where: { $0.status == .pending }) { isWatched = true }
      result.breaks += found.map { $0.reported(by: lineage) }
    }
    result.groups += 1
    let next =
      isWatched ? rules.fold.asOf : deadline(of: histories, events: events, rules: rules.fold)
    if let next { result.due.append(DueLineage(lineage: group[0].key, deadline: next)) }
    return histories
  }
}

extension Break {
  /// The break, marked as found in the events of `lineage` without a snapshot.
  func reported(by lineage: LineageInput) -> Break {
    var copy = self
    copy.lineage = lineage.state.lineage
    return copy
  }
}
