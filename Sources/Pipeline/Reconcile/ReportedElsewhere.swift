import Domain
import EventStore
import Reconciliation
import Subscriptions

extension [Break] {
  /// Takes off the worth of charges and refunds of purchases without any event of the break's
  /// provider that another provider reports: that report counts.
  ///
  /// If events of both arrived, the comparison of the subscription has taken it off. A user with
  /// such a break is compared in every run, so later reports need no watch.
  mutating func takeOffReports(in ledger: Ledger, by rules: ReconciliationSettings) throws {
    for index in indices where self[index].mayBeReportedElsewhere {
      let found = self[index]
      let key = transactionKey(found.transaction)
      var report: LineageRow?
      for store in found.store.possible where report == nil {
        report = try ledger.lineage(withStoreTransaction: key, in: store)
      }
      guard let row = report else { continue }
      let group = try ledger.linkedGroup(of: row)
      let hasOwn = group.contains {
        $0.provider == found.provider && $0.original.isExactly(found.subscription)
      }
      guard !hasOwn else { continue }
      let counted = try countedHistories(group, try ledger.events(of: group), rules: rules.fold)
      let reported = counted.lazy.compactMap(\.state).first { state in
        let transactions =
          found.code == .missedRefund
          ? state.refunds.map(\.transaction) : state.charges.map(\.transaction)
        return state.environment == found.environment && transactions.contains(key)
      }
      guard let reported else { continue }
      self[index].reportedElsewhere = 1
      self[index].estimatedUSD = .zero
      self[index].severity = rules.severities.severity(of: .zero)
      self[index].evidence += "; reported by \(reported.provider.name), which counts"
    }
  }
}

private extension Break {
  var mayBeReportedElsewhere: Bool {
    (code.isCharge || code == .missedRefund) && environment == .production
      && (missingEvents, reportedElsewhere) == (1, 0) && !transaction.isEmpty
      && estimatedUSD != .zero
  }
}
