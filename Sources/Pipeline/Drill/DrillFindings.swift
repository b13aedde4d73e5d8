import Domain
import EventStore
import Reconciliation

/// Everything that fold and reconciliation find in a ledger.
struct DrillFindings {
  let breaks: [String: Break]
  let arrivals: [ArrivalKey: ArrivalSums]
  let rates: ExchangeRates
  /// Users and subscriptions with a break that is not about arrival.
  let troubled: Set<BreakHolder>

  init(in ledger: Ledger, by pipeline: RunPipeline) throws {
    let (fold, outcome) = try pipeline.wholeOutcome(
      of: ledger, by: try pipeline.reconcileRules(for: ledger))
    breaks = Dictionary((fold.result.breaks + outcome.breaks).map { ($0.id, $0) }) { $1 }
    arrivals = fold.result.facts.arrivals
    rates = fold.allRates
    troubled = Set(breaks.values.filter { !$0.code.isAboutArrival }.flatMap(\.holders))
  }
}

/// A user or a subscription, as in breaks.
enum BreakHolder: Hashable {
  case user(Provider, String)
  case subscription(Provider, String)
}

extension Break {
  var holders: [BreakHolder] {
    named(provider, user: user, subscription: subscription)
  }
}

extension LineageRow {
  var holders: [BreakHolder] {
    named(provider, user: user.userKeyText, subscription: original)
  }
}

private func named(_ provider: Provider, user: String, subscription: String) -> [BreakHolder] {
  (user.isEmpty ? [] : [.user(provider, user)])
    + (subscription.isEmpty ? [] : [.subscription(provider, subscription)])
}
