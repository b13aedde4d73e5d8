import EventStore
import Reconciliation
import Reports
import Subscriptions
import Domain

/// Everything that fold and reconciliation find in a ledger.
struct DrillSight {
  let breaks: [String: Break]
  let arrivals: [ArrivalKey: ArrivalSums]
  let rates: ExchangeRates
  private let troubled: Set<BreakHolder>

  init(of ledger: Ledger, by pipeline: RunPipeline) throws(SubledgerError) {
    let (fold, outcome) = try pipeline.wholeOutcome(
      of: ledger, by: try pipeline.reconcileRules(for: ledger))
    let found = fold.result.breaks + outcome.breaks
    breaks = Dictionary(found.map { ($0.id, $0) }) { $1 }
    arrivals = fold.result.facts.arrivals
    rates = fold.rates
    troubled = Set(breaks.values.filter { !$0.code.isAboutArrival }.flatMap(\.holders))
  }

  /// Whether a break is about the lineage or its user.
  func hasBreak(of row: LineageRow) -> Bool {
    !troubled.isDisjoint(with: row.holders)
  }

  /// Breaks that `before` does not have.
  func breaks(since before: DrillSight) -> [Break] {
    breaks.values.filter { before.breaks[$0.id] == nil }.sorted { $0.id < $1.id }
  }
}

/// A user or a subscription, as breaks name them.
enum BreakHolder: Hashable {
  case user(Provider, String)
  case subscription(Provider, String)
}

extension Break {
  var holders: [BreakHolder] { named(provider, user: user, subscription: subscription) }
}

extension LineageRow {
  var holders: [BreakHolder] { named(provider, user: user.userKeyText, subscription: original) }
}

private func named(_ provider: Provider, user: String, subscription: String) -> [BreakHolder] {
  (user.isEmpty ? [] : [.user(provider, user)])
    + (subscription.isEmpty ? [] : [.subscription(provider, subscription)])
}
