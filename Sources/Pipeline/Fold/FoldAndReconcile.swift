import Domain
import EventStore
import Logging
import Reconciliation
import Reports

extension RunPipeline {
  /// - Parameter isPart: whether `ledger` contains only the events that may have changed.
  func foldAndReconcile(
    _ ledger: Ledger, _ rules: ReconciliationSettings, isPart: Bool = false
  ) throws -> (Folded, Reconciled) {
    try ledger.linkLineages()
    let refresh = FactRefresh(pipeline: self, ledger: ledger, rules: rules, isPart: isPart)
    let folded = try refresh.run()
    try ledger.releaseMemory()
    let pass = ReconcilePass(
      ledger: ledger, rules: try rules.knowing(folded, in: ledger),
      proving: folded.result.proving, jobs: plan.jobs,
      progress: progress(of: .reconcile))
    let reconciled = try pass.run(after: folded)
    let users = reconciled.users.reduce(0) { $0 + $1.count }
    if users > 0 || !reconciled.isWhole {
      let whose = reconciled.isWhole ? "" : " with new input, open breaks or deadlines"
      log.info(
        "reconciled \(counted(users, "user"))\(whose)",
        metadata: ["code": "reconciled", "users": "\(users)"])
    }
    guard !isPart || !reconciled.isWhole else { throw FactRefresh.NeedsEverything() }
    return (folded, reconciled)
  }

  func chargeRows(of ledger: Ledger, _ rules: FoldSettings) throws -> ChargeRowWriter {
    try ChargeRowWriter(
      of: ledger, rules: rules, dialect: plan.csvDialect, decimals: plan.amountDecimals)
  }

  /// Returns the months of the published set, if it is that of the last run and nothing in it has
  /// changed since except events.
  func previousMonths(of ledger: Ledger) throws -> PreviousMonths? {
    guard try ledger.unpublishedRun() == nil, let run = try ledger.lastPublished(),
      let checksums = run.published, try !ledger.actions(since: run.id).contains(.erase)
    else { return nil }
    return try PreviousMonths(
      publishedIn: plan.out, sha256: checksums, in: plan.csvDialect,
      open: try ledger.openMonth(ofRun: run.id) ?? Month(number: 0), isRead: readsPreviousSet,
      each: Workers(count: plan.jobs).each)
  }
}
