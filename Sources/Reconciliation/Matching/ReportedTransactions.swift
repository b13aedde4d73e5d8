import Subscriptions
import Domain

/// The transactions in events, over all lineages of the user, and in those of other providers.
struct ReportedTransactions {
  private var charges: Set<Int64> = []
  private var trials: Set<Int64> = []
  /// When changes of product were reported without a charge, by transaction.
  private var changes: [Int64: [Instant]] = [:]
  var refunds: Set<Int64> = []
  /// Charges whose access a revocation without a statement about money took away.
  var revoked: Set<Int64> = []

  init(_ lineages: [LineageInput]) {
    for state in lineages.lazy.flatMap({ $0.current == nil ? [$0.state] : [$0.state, $0.latest] }) {
      for charge in state.charges { charges.insert(charge.transaction) }
      // Providers that send no money report a change of product without it.
      if !state.provider.capabilities.sendsWholeCharges {
        for change in state.unpaidChanges {
          changes[change.transaction, default: []].append(change.time)
        }
      }
      for trial in state.trials { trials.insert(trial.transaction) }
      for refund in state.refunds { refunds.insert(refund.transaction) }
      // What precedes its own first event was before a move to it.
      for report in state.reportedElsewhere
      where report.isExpected || report.time < state.firstEventAt {
        switch report.kind {
        case .trialStarted: trials.insert(report.transaction)
        case _ where report.kind.isRefund: refunds.insert(report.transaction)
        default: charges.insert(report.transaction)
        }
      }
      if state.accessRevoked, let last = state.charges.last { revoked.insert(last.transaction) }
    }
  }

  /// Whether an event reported it.
  ///
  /// A change of product reports the charge that it makes, but not one of another time that it
  /// names.
  func covers(_ transaction: ListedTransaction, within gap: Interval) -> Bool {
    switch transaction.kind {
    case .trialStarted: trials.contains(transaction.key)
    case .unknown, .free:
      isCharged(transaction, within: gap) || trials.contains(transaction.key)
    case .started, .renewed, .introStarted, .introRenewed, .oneTime:
      isCharged(transaction, within: gap)
    }
  }

  private func isCharged(_ transaction: ListedTransaction, within gap: Interval) -> Bool {
    if charges.contains(transaction.key) { return true }
    guard let reported = changes[transaction.key] else { return false }
    guard let at = transaction.at else { return true }
    return reported.contains { abs($0.since(at).milliseconds) <= gap.milliseconds }
  }
}
