import Subscriptions
import Domain

extension Reconciler {
  /// Ends after which an auto-renewing subscription fell silent, though the calendar expects an
  /// event.
  ///
  /// An event of the last period that the snapshot shows as missing explains the silence. Which
  /// event is missing is unknown: it is called a renewal, which the calendar expects, until the one
  /// after it is overdue too; then the subscription has ended.
  func findSilentEnds() {
    lazy var found = Dictionary(grouping: breaks.values) {
      LineageName(app: $0.app, store: $0.store, original: $0.subscription)
    }
    for lineage in lineagesOfAnyTime where !lineage.isHeldByAnotherUser {
      guard let end = lineage.latest.silentEnd, isWatched(end, subject(lineage)),
        !missing(in: lineage).contains(where: { isAfterLastPeriod($0, lineage.latest) }),
        !(found[lineage.name] ?? []).contains(where: { explains($0, silenceOf: lineage) })
      else { continue }
      let code = code(ofSilenceAfter: end, lineage)
      let until = rules.feed(user.provider, lineage.app).map { min($0.watermark, rules.fold.asOf) }
      let state = lineage.latest
      let product = lineage.text(state.scheduledProduct ?? state.product)
      var draft = BreakDraft(
        code: code, subject: subject(lineage, product: product), expectedAt: end,
        evidence: "auto-renew was on and the period ended \(end.text); until "
          + "\((until ?? rules.fold.asOf).text) neither a charge nor a cancel, an expiry or a "
          + "failed payment arrived")
      if code == .missedExpiration {
        draft.severity = .medium
      } else {
        (draft.estimate, draft.basis) = estimate(lineage, product: product, of: code, at: end)
      }
      draft.provenBy = .events
      raise(numbered(draft, of: lineage.name))
    }
  }

  /// Whether a break explains why nothing followed the last period.
  private func explains(_ found: Break, silenceOf lineage: LineageInput) -> Bool {
    guard found.code.explainsSilence, let at = found.expectedAt else { return false }
    return begin(ofLastPeriodIn: lineage.latest).map { at >= $0 } ?? true
  }

  private func code(ofSilenceAfter end: Instant, _ lineage: LineageInput) -> BreakCode {
    let length = periodLength(lineage, lineage.latest) ?? .days(366)
    let isLongAgo = end + length <= rules.fold.endsAreFinal(until: feed(of: lineage))
    if isLongAgo { return .missedExpiration }
    return lineage.latest.isTrial ? .missedConversion : .missedRenewal
  }

  private func feed(of lineage: LineageInput) -> Feed {
    Feed(provider: lineage.latest.provider, app: lineage.latest.app)
  }
}

extension BreakCode {
  /// Whether a missing event or a disagreement can explain why events of a subscription stopped.
  var explainsSilence: Bool {
    switch self {
    case .missedCancel, .missedExpiration, .missedBillingIssue, .missedRefund,
      .missedProductChange, .expiryMismatch, .aheadOfSnapshot:
      true
    default: false
    }
  }
}
