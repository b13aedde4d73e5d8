import Subscriptions
import Domain

extension Reconciler {
  func stateDraft(
    _ code: BreakCode, _ match: EntitlementMatch, at: Instant, missing: Int64, _ evidence: String
  ) -> BreakDraft {
    BreakDraft(
      code: code, subject: subject(match.lineage),
      key: lastPeriod(match.lineage.state), expectedAt: at,
      missingEvents: missing, estimate: missing > 0 ? .zero : nil, basis: .provider,
      evidence: evidence)
  }

  func raiseBillingIssue(_ match: EntitlementMatch) {
    let state = match.lineage.state
    // The store begins to collect a day before the end. What failed before that has no date.
    let collects = state.periodEnd.map { $0 - .days(1) <= knownAt } ?? false
    let due = collects ? min(state.periodEnd ?? knownAt, knownAt) : state.lastEventAt
    raise(
      stateDraft(
        .missedBillingIssue, match, at: hasGivenUp(state) ? due : max(due, state.lastEventAt),
        missing: 1,
        "\(describe(match.entitlement)); no billing retry event came"))
  }

  /// What shows the entitlements, as text.
  var snapshotWords: String {
    guard isOfWebhook, let view else { return "the snapshot shows" }
    return "the entitlements in the webhook of \(view.capturedAt.text) show"
  }

  /// The entitlement as text.
  func describe(_ entitlement: Entitlement) -> String {
    var words = "\(snapshotWords) "
    switch entitlement.isActive(at: knownAt) {
    case true?: words += "active"
    case false?: words += "inactive"
    case nil: words += "entitlement \(entitlement.id)"
    }
    if let end = entitlement.expiresAt { words += " until \(end.text)" }
    if let state = entitlement.renewState { words += ", \(state.words)" }
    return words
  }
}

extension RenewState {
  var words: String {
    switch self {
    case .nonRenewable: "not renewable"
    case .unknown: "renewal unknown"
    case .willRenew: "will renew"
    case .canceled: "canceled"
    case .billingIssue: "billing issue"
    }
  }
}
