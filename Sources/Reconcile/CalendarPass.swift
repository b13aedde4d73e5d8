import Timeline
import Vocabulary

/// Fourth pass: what the calendar says should have happened, where nobody else has spoken.
extension Reconciliation {
  /// Ends after which an auto-renewing subscription fell silent.
  ///
  /// A snapshot that was taken later has judged the end already. Which event is missing nobody can
  /// tell, so no amount is put on it: it is called a renewal, which the calendar expects, until the
  /// one after it would have come too; then the subscription has ended, and nobody said so.
  mutating func findSilentEnds() {
    for lineage in lineagesOfAnyTime where !lineage.isHeldByAnotherUser {
      guard let end = lineage.latest.silentEnd, isWatched(end, subject(lineage)),
        view.map({ $0.capturedAt <= end + rules.rules.renewalGap }) ?? true,
        !missing(in: lineage).contains(where: { isAfterLastPeriod($0, lineage.latest) })
      else { continue }
      let code = code(ofSilenceAfter: end, lineage)
      let until = rules.feed(user.provider, lineage.app).map { min($0.watermark, rules.rules.asOf) }
      var draft = BreakDraft(
        code: code, subject: subject(lineage, product: lineage.text(lineage.latest.product)),
        key: "silent after \(end.milliseconds)", expectedAt: end, missingEvents: 1,
        evidence: "auto-renew was on and the period ended \(end.text); until "
          + "\((until ?? rules.rules.asOf).text) neither a charge nor a cancel, an expiry or a "
          + "failed payment was told",
        action: nextStep(code, user.provider))
      draft.family = .silentEnd
      draft.severity = .medium
      draft.provenBy = .events
      raise(draft)
    }
  }

  private func code(ofSilenceAfter end: Instant, _ lineage: LineageCase) -> BreakCode {
    let length = periodLength(lineage, lineage.latest) ?? .days(366)
    let isLongAgo = end + length <= rules.rules.endsAreSettled(until: feed(of: lineage))
    if isLongAgo { return .missedExpiration }
    return lineage.latest.isTrial ? .missedConversion : .missedRenewal
  }

  private func feed(of lineage: LineageCase) -> Feed {
    Feed(provider: lineage.latest.provider, app: lineage.latest.app)
  }
}
