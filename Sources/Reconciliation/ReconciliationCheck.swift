import Domain

/// One rule that compares a user's subscriptions with the snapshot, with each other or with the
/// calendar.
struct ReconciliationCheck: Sendable {
  /// The codes that it raises, and when: its part of the table of break codes.
  let conditions: [BreakCondition]
  /// Raises the breaks of one user, without what earlier checks found.
  let evaluate: @Sendable (Reconciler) -> Void

  init(_ evaluate: @escaping @Sendable (Reconciler) -> Void, _ conditions: BreakCondition...) {
    (self.conditions, self.evaluate) = (conditions, evaluate)
  }
}

/// Codes that are raised under one condition.
struct BreakCondition: Sendable {
  let codes: [BreakCode]
  let condition: String

  init(_ codes: [BreakCode], _ condition: String) {
    self.codes = codes
    self.condition = condition
  }
}

extension Reconciler {
  /// In the order of evaluation.
  static let checks = snapshotChecks + [lastCheck]

  /// What remains silent when everything else is explained.
  static let lastCheck = ReconciliationCheck(
    { $0.findSilentEnds() },
    BreakCondition(
      [.missedConversion, .missedRenewal, .missedExpiration],
      "nothing followed a period that should have renewed"))

  /// Those of what is active until when.
  static let webhookChecks = [unmatchedEntitlements, periodEnds]

  static let snapshotChecks = [
    ReconciliationCheck(
      { $0.findReportsElsewhere() },
      BreakCondition(
        charges + [.missedProductChange, .missedRefund], "another provider reports it")),
    ReconciliationCheck(
      { $0.findMissingTransactions() },
      BreakCondition(charges, "a listed transaction has no charge, a listed trial no start")),
    ReconciliationCheck(
      { $0.findMissingRefunds() },
      BreakCondition([.missedRefund], "a listed transaction is revoked, and no refund arrived")),
    ReconciliationCheck(
      { $0.findRefundedCharges() }, BreakCondition(charges, "a refund's charge never came")),
    ReconciliationCheck(
      { $0.findUnseenPeriods() },
      BreakCondition(periods, "another event names a transaction without charge and a later end"),
      BreakCondition([.missedStart], "a renewal follows an expiry"),
      BreakCondition(
        [.missedRenewal],
        "a renewal leaves exactly one period free before it, or a product changes in a free one")),
    unmatchedEntitlements,
    ReconciliationCheck(
      { user in user.comparableMatches.forEach(user.findMissingTrial) },
      BreakCondition([.missedStart], "the snapshot dates a trial, and no trial start arrived")),
    ReconciliationCheck(
      { user in user.comparableMatches.forEach(user.findMissingStart) },
      BreakCondition([.missedStart], "the snapshot shows a start before the first charge")),
    ReconciliationCheck(
      { $0.evaluateFirstCharges() },
      BreakCondition(
        [.missedStart, .missedRenewal], "the first charge that arrived is a renewal"),
      BreakCondition([.missedStart], "a conversion has no trial start")),
    periodEnds,
    ReconciliationCheck(
      { user in user.runningMatches.forEach(user.compareProducts) },
      BreakCondition([.missedProductChange], "the snapshot names a product that no event named"),
      BreakCondition(
        [.productMismatch], "the snapshot names a product that the subscription had before")),
    ReconciliationCheck(
      { user in user.runningMatches.forEach(user.compareRenewal) },
      BreakCondition([.missedCancel], "the snapshot shows auto-renew off, and no cancel arrived"),
      BreakCondition(
        [.missedBillingIssue], "the snapshot shows a failed payment, and no event of it arrived"),
      BreakCondition(
        [.renewStateMismatch], "events show a cancel, the snapshot shows auto-renew on")),
    ReconciliationCheck(
      { $0.findCounterGaps() },
      BreakCondition([.missedRenewal], "counters jump, of charges or of another event"),
      BreakCondition([.missedConversion], "a renewal follows a trial directly")),
    ReconciliationCheck(
      { $0.compareCounters() },
      BreakCondition([.missedRenewal], "the snapshot counts more renewals than came")),
    ReconciliationCheck(
      { user in user.comparableMatches.forEach(user.findMissingLastPurchase) },
      BreakCondition(periods, "the snapshot dates a purchase after the last charge")),
    ReconciliationCheck(
      { $0.compareExpirations() },
      BreakCondition(
        [.missedExpiration],
        "the snapshot shows a canceled subscription as over, and no expiry arrived")),
    ReconciliationCheck(
      { $0.compareAccess() },
      BreakCondition(
        [.aheadOfSnapshot], "active by events, over or absent in the user's snapshot")),
    ReconciliationCheck(
      { $0.findAbsentSide() },
      BreakCondition(
        [.eventsAbsent], "a user with an entitlement has no events, and no transaction to name"),
      BreakCondition([.missedExpiration], "an entitlement without events ended"),
      BreakCondition(
        [.snapshotAbsent], "a user active by events is missing in a complete set of snapshots")),
  ]

  private static let unmatchedEntitlements = ReconciliationCheck(
    { $0.evaluateUnmatchedEntitlements() },
    BreakCondition(
      [.missedStart, .missedPurchase],
      "an entitlement has a product that no subscription of the user ever had"),
    BreakCondition([.missedCancel], "an entitlement without events was canceled"))

  private static let periodEnds = ReconciliationCheck(
    { $0.compareEnds() },
    BreakCondition(periods, "the snapshot shows a later end than the events"),
    BreakCondition([.missedProductChange], "the later end is of another product"),
    BreakCondition(
      [.expiryMismatch], "both sides show the last period, and the ends differ by more than 60 s"))

  private static let periods: [BreakCode] = [.missedStart, .missedConversion, .missedRenewal]
  private static let charges = periods + [.missedPurchase]
}
