import Domain
import EventStore
import Logging
import Reconciliation
import Reports

extension RunPipeline {
  func foldAndReconcile(
    _ ledger: Ledger, _ rules: ReconciliationSettings, by spark: SparkEngine
  ) throws -> (folded: Folded, reconciled: Reconciled) {
    let archives = try ledger.lakeArchives()
    let users = try spark.write(as: "users") { try listUsers(of: ledger, rules, $0) }
    if let news = try foldNews(ledger, rules, users: users, by: spark) { return news }
    let sets = try spark.place(archives, users: users)
    let rows = try spark.rows(of: .fold, in: sets, ledger)
    // They are read twice, and the other rows are much larger.
    let cells = try RowFile(path: "\(spark.exchange)/\(spark.newName("cells")).tsv")
    var sum = FoldResult()
    var charges = ChargeList(spillPath: ledger.path + "-charges")
    var linked: [NamedLineage] = []
    try rows.forEachRow { row in
      guard row.count == 2 else { throw StageRows.malformed("the fold") }
      switch row[0] {
      case "cells": try cells.put(String(row[1]))
      case "part": try sum.add(StageCoding.value(FoldResult.self, row[1]))
      case "charges": try charges.add(StageCoding.value(ChargePart.self, row[1]))
      case "breaks": sum.breaks += try StageCoding.value([Break].self, row[1])
      case "linked": linked += try StageCoding.value([NamedLineage].self, row[1])
      default: break
      }
    }
    _ = try cells.close()
    try rows.remove()
    try ledger.replace(linked: linked, isWhole: true)
    var folded = Folded(sum, charges)
    folded.cells = cells
    let compared = try reconcile(ledger, &folded, rules, in: sets, by: spark)
    return (folded, compared)
  }

  /// Compares users with the amounts of the fold, whose cells are in a copy of the ledger.
  private func reconcile(
    _ ledger: Ledger, _ folded: inout Folded, _ rules: ReconciliationSettings,
    in sets: [String], by spark: SparkEngine
  ) throws -> Reconciled {
    let copy = try spark.copy(of: ledger)
    // Of this checkpoint, stages read only the archive.
    let basis = FactCheckpoint(asOf: rules.fold.asOf, rules: "", archive: try copy.newestArchive())
    var change = folded.change(
      Reconciled(rules: ""), basis: basis, calendar: rules.fold.calendar)
    change.due = []
    _ = try copy.begin(change)
    try copy.finish(change)
    try folded.cells?.addCells(to: copy)
    let known = try rules.knowing(folded.prices, folded.allRates, in: copy) { try copy.begun() }
    var outcome = Reconciled(rules: known.fingerprint)
    let rows = try spark.rows(of: .reconcile, in: sets, copy, proving: folded.result.proving)
    try rows.forEachRow { row in
      guard row.count == 2 else { throw StageRows.malformed("the reconciliation") }
      switch row[0] {
      case "breaks": folded.result.breaks += try StageCoding.value([Break].self, row[1])
      case "result": outcome.result.add(try StageCoding.value(ReconciliationResult.self, row[1]))
      case "users": outcome.users.append(try StageCoding.value([ReconciledUser].self, row[1]))
      default: break
      }
    }
    for user in outcome.users.joined() {
      outcome.previousOwners.named.formUnion(try user.details().previousOwners)
    }
    outcome.removeMovedAccess()
    return outcome
  }

  /// Folds and compares in this process only what may have changed since the last run; nil when
  /// that may be everything.
  private func foldNews(
    _ ledger: Ledger, _ rules: ReconciliationSettings, users: String, by spark: SparkEngine
  ) throws -> (Folded, Reconciled)? {
    guard try previousMonths(of: ledger) != nil,
      let scope = try FoldScope(of: ledger, rules: rules, by: self)
    else { return nil }
    let (changed, unseen) = try changedKeys(of: ledger, scope, asOf: rules.fold.asOf)
    guard
      let copy = try spark.news(
        of: ledger, try ledger.lakeArchives(), users: users, since: scope.basis.archive,
        keys: changed, unseen: unseen, max: FoldScope.dirtyMax(of: scope.basis))
    else { return nil }
    do {
      let news = try foldAndReconcile(copy, rules, isPart: true)
      try ledger.replace(linked: try copy.linkedLineages(), isWhole: false)
      log.info("only what may have changed was folded, by the driver", metadata: ["code": "news"])
      return news
    } catch is FactRefresh.NeedsEverything {
      return nil
    }
  }

  /// Returns the lineages and users who may have changed without new events, and the providers
  /// whose users without a snapshot are compared again.
  private func changedKeys(
    of ledger: Ledger, _ scope: FoldScope, asOf: Instant
  ) throws -> (keys: Set<Int64>, unseen: Set<Provider>) {
    var keys = Set(scope.dirty.all)
    keys.formUnion(try ledger.usersRenamed(since: scope.basis.archive))
    var (shown, unseen): (Set<Int64>, Set<Provider>) = ([], [])
    try ledger.forEachNewSnapshot(asOf: asOf) { provider, user, _, _, _ in
      shown.insert(user)
      unseen.insert(provider)
    }
    keys.formUnion(shown)
    try ledger.forEachReconciledUser { row in
      guard row.validUntil == nil || shown.contains(row.user) else { return }
      keys.insert(row.user)
      let details = try row.details()
      keys.formUnion(details.foreign + details.unreported)
    }
    return (keys, unseen)
  }

  /// Writes rows of users with snapshots, and of the transactions in these.
  private func listUsers(
    of ledger: Ledger, _ rules: ReconciliationSettings, _ put: (String) throws -> Void
  ) throws {
    for provider in rules.snapshotsTakenAt.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
      try ledger.forEachUser(withSnapshotAsOf: rules.fold.asOf, provider: provider) { user in
        try put("\(provider.rawValue)\t\(user.user)\t0")
        for entitlement in user.snapshots.flatMap(\.entitlements) {
          for transaction in entitlement.transactions {
            for id in [transaction.id, transaction.originalID] where !id.isEmpty {
              try put("\(provider.rawValue)\t\(user.user)\t\(transactionKey(id))")
            }
          }
        }
      }
    }
  }
}
