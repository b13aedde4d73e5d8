import Subscriptions
import Domain

extension Reconciler {
  /// Raises what the counted provider missed and another provider reported.
  func findReportsElsewhere() {
    for lineage in ownLineages {
      for report in lineage.latest.reportedByOthers
      where lineage.latest.hasMissed(report)
        && !reported.reportsChange(report.transaction, at: report.time, within: gap)
      {
        evaluate(report, of: lineage)
      }
    }
  }

  /// Raises what was missed while the feed was active; after a move, nothing is missed.
  private func evaluate(_ report: OtherProviderReport, of lineage: LineageInput) {
    let about = subject(lineage, product: lineage.text(report.product))
    guard isWatched(report.time, about) else { return omit(.beforeFirstEvent) }
    guard let feed = rules.feed(about.provider, about.app), report.time <= feed.newest else {
      return
    }
    let id = lineage.transactionText(report.transaction)
    let draft = BreakDraft(
      code: code(of: report, in: lineage), subject: about, key: .transaction(id), transaction: id,
      expectedAt: report.time, worth: nothing, isProvenByEvents: true,
      evidence: "reported by \(report.provider.name): \(report.kind.name) of \(report.time.text)"
        + (id.isEmpty ? "" : ", transaction \(id)") + "; it counts as that provider's")
    guard !report.kind.isRefund else {
      if lineage.latest.charges.last?.transaction == report.transaction {
        missedRefunds.insert(lineage.name)
      }
      let type: ProductType = report.kind == .purchaseRefunded ? .oneTime : .subscription
      if capabilities.sendsRefunds(of: type) { raise(draft) }
      return
    }
    raise(
      draft, of: lineage, until: report.end, isFree: report.kind == .trialStarted,
      opensLineage: draft.code == .missedStart)
  }

  /// Whether the subscription continues at another provider, and this one's feed had ended before.
  func isMoved(_ lineage: LineageInput) -> Bool {
    guard let feed = rules.feed(user.provider, lineage.app) else { return false }
    return lineage.latest.reportedByOthers.contains {
      !$0.kind.isRefund && $0.time > feed.newest
    }
  }

  /// The code for a missing charge that another provider reports.
  ///
  /// If that provider does not link renewals, as FLOBUK outside Play, the charges decide the code.
  private func code(of report: OtherProviderReport, in lineage: LineageInput) -> BreakCode {
    let state = lineage.latest
    guard report.chargeKind == .first, !report.provider.capabilities.linksRenewals(in: state.store)
    else { return report.missingCode }
    let last = state.subscriptionCharges.last { $0.time < report.time }
    guard let end = last?.periodEnd else {
      let trial = state.trials.last { $0.start < report.time }
      return trial?.codeOfCharge(at: report.time) ?? report.missingCode
    }
    // No store renews more than the gap before the end: that provider saw access revoked.
    if report.kind == .resubscribed, report.time + gap < end { return .missedStart }
    if report.time <= end + gap { return .missedRenewal }
    let isNewest = last == state.subscriptionCharges.last
    return isNewest ? codeOfCharge(at: report.time, after: end, state) : report.missingCode
  }

  /// The break without the worth of charges that another provider reports and that count.
  func withoutCountedElsewhere(_ draft: BreakDraft, _ name: LineageName) -> BreakDraft {
    let count = draft.missingEvents
    guard draft.code.isMissing, draft.code != .missedRefund, count > 0,
      let estimate = draft.worth.amount, estimate != .zero, let lineage = byName[name]
    else { return draft }
    let counted = lineage.latest.countedElsewhere(as: draft.code).filter { report in
      countedElsewhere[name]?.contains(report.time) != true
        && isSame(report, as: draft, in: lineage)
    }.prefix(Int(count))
    guard !counted.isEmpty else { return draft }
    var draft = draft
    countedElsewhere[name, default: []].formUnion(counted.map(\.time))
    draft.reportedElsewhere = Int64(counted.count)
    draft.worth.amount = try? estimate.scaled(by: count - draft.reportedElsewhere, over: count)
    let providers = Set(counted.map(\.provider.name)).sorted().joined(separator: ", ")
    draft.evidence += "; reported by \(providers), which counts"
    return draft
  }

  /// Matches by transaction, of which a break names the last, else by the time when it was due.
  private func isSame(
    _ report: OtherProviderReport, as draft: BreakDraft, in lineage: LineageInput
  ) -> Bool {
    if !draft.transaction.isEmpty, report.transaction != 0 {
      let isNamed = report.transaction == transactionKey(draft.transaction)
      if isNamed || draft.missingEvents == 1 { return isNamed }
    }
    guard let due = draft.expectedAt else { return false }
    let length = periodLength(of: draft, in: lineage)
    let until = due + Interval(milliseconds: length.milliseconds * draft.missingEvents)
    // An end that follows from a length can be later than the store's by a grace.
    let early = capabilities.sendsPeriodEnds ? gap : .seconds(length.milliseconds / 2_000)
    return due - max(gap, early) <= report.time && report.time <= max(due + gap, until - gap)
  }
}

extension LineageState {
  /// Whether this provider should have sent it: reports before its own first event of the
  /// subscription precede a move to it.
  func hasMissed(_ report: OtherProviderReport) -> Bool {
    report.isExpected && report.time >= firstEventAt
  }

  /// The counted charges that other providers reported; for a missed start, also trial starts.
  func countedElsewhere(as code: BreakCode) -> [OtherProviderReport] {
    reportedByOthers.filter { report in
      let isFreeStart = report.kind == .trialStarted && code == .missedStart
      return !hasMissed(report) && (isFreeStart || report.chargeKind != nil)
    }
  }

  /// Whether an instant is in a period that a product change began, as another provider reported:
  /// such a period can begin before the one that it replaces ends.
  func isChangedElsewhere(at instant: Instant) -> Bool {
    reportedByOthers.contains { report in
      report.chargeKind == .productChange && report.time <= instant
        && report.end.map { $0 > instant } ?? true
    }
  }

  /// Whether another provider reported the charge, which this one should have sent.
  func isReportedElsewhere(_ transaction: Int64) -> Bool {
    reportedByOthers.contains {
      $0.isExpected && $0.transaction == transaction && !$0.kind.isRefund
    }
  }
}

extension OtherProviderReport {
  var missingCode: BreakCode {
    kind.isRefund ? .missedRefund : chargeKind?.codeWhenMissed ?? .missedStart
  }
}
