import EventStore
import Reconciliation
import Subscriptions

extension RunPipeline {
  /// Folds and reconciles all that `ledger` holds, and keeps nothing of it there.
  func wholeOutcome(
    of ledger: Ledger, by rules: ReconciliationSettings
  ) throws(SubledgerError) -> (fold: WholeFold, reconciled: ReconciliationResult) {
    let cases = InputBuilder(ledger: ledger, rules: rules.fold)
    let reconciled = Set(rules.snapshotsTakenAt.keys)
    let fold = try FoldPass(
      ledger: ledger, cases: cases, fold: GroupFold(rules: rules, reconciled: reconciled),
      jobs: plan.jobs, checkStop: checkStop
    ).run()
    let result = fold.result
    let known = try rules.knowing(PaidPrices(result.prices), in: ledger) { result.facts.begun }
    let pass = ReconcilePass(ledger: ledger, rules: known, jobs: plan.jobs, checkStop: checkStop)
    return (fold, try pass.run(reconciled))
  }
}
