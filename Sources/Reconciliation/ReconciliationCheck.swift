public import Domain

/// A rule that compares a user's subscriptions with the snapshot, each other or the calendar.
struct ReconciliationCheck: Sendable {
  /// The codes that it raises, with their conditions, for the table of break codes.
  let conditions: [BreakCondition]
  /// Raises the breaks of one user, except what earlier checks found.
  let evaluate: @Sendable (Reconciler) -> Void

  init(_ evaluate: @escaping @Sendable (Reconciler) -> Void, _ conditions: BreakCondition...) {
    (self.conditions, self.evaluate) = (conditions, evaluate)
  }
}

/// Codes that are raised under one condition.
typealias BreakCondition = (codes: [BreakCode], condition: String)

extension Reconciler {
  /// All checks in the order of evaluation.
  static let checks = snapshotChecks + [lastCheck]

  /// Finds subscriptions whose events stopped for no reason that an earlier check found.
  static let lastCheck = ReconciliationCheck(
    { $0.findUnansweredEnds() },
    (
      [.missedConversion, .missedRenewal, .missedExpiration],
      "nothing followed a period that should have renewed"
    ))

  /// The checks of what is active until when.
  static let webhookChecks = [unmatchedEntitlements, starts, periodEnds]

  static let snapshotChecks: [ReconciliationCheck] = [
    ReconciliationCheck(
      { $0.findReportsElsewhere() },
      (charges + [.missedProductChange, .missedRefund], "another provider reports it")),
    ReconciliationCheck(
      { $0.findMissingTransactions() },
      (charges, "a listed transaction has no charge, a listed trial no start")),
    ReconciliationCheck(
      { $0.findMissingRefunds() },
      ([.missedRefund], "a listed transaction is revoked, and no refund arrived")),
    ReconciliationCheck({ $0.findRefundedCharges() }, (charges, "a refund's charge never arrived")),
    ReconciliationCheck(
      { $0.findUnseenPeriods() },
      (periods, "another event names a transaction without charge and a later end"),
      ([.missedStart], "a renewal follows an expiry"),
      (
        [.missedRenewal],
        "a renewal leaves exactly one period free before it, or a product changes in a free one"
      )),
    unmatchedEntitlements,
    ReconciliationCheck(
      { user in user.comparableMatches.forEach(user.findMissingTrial) },
      ([.missedStart], "the snapshot dates a trial, and no trial start arrived")),
    starts,
    ReconciliationCheck(
      { $0.evaluateFirstCharges() },
      ([.missedStart, .missedRenewal], "the first charge that arrived is a renewal"),
      ([.missedStart], "a conversion has no trial start")),
    periodEnds,
    ReconciliationCheck(
      { user in user.runningMatches.forEach(user.compareProducts) },
      ([.missedProductChange], "the snapshot names a product that no event named"),
      ([.productMismatch], "the snapshot names a product that the subscription had before")),
    ReconciliationCheck(
      { user in user.runningMatches.forEach(user.compareRenewal) },
      ([.missedCancel], "the snapshot shows auto-renew off, and no cancel arrived"),
      ([.missedBillingIssue], "the snapshot shows a failed payment, and no event of it arrived"),
      ([.renewStateMismatch], "events show a cancel, the snapshot shows auto-renew on")),
    ReconciliationCheck(
      { $0.findCounterGaps() },
      ([.missedRenewal], "counters jump, of charges or of another event"),
      ([.missedConversion], "a renewal follows a trial directly")),
    ReconciliationCheck(
      { $0.compareCounters() },
      ([.missedRenewal], "the snapshot counts more renewals than arrived")),
    ReconciliationCheck(
      { user in user.comparableMatches.forEach(user.findMissingLastPurchase) },
      (periods, "the snapshot dates a purchase after the last charge")),
    ReconciliationCheck(
      { $0.compareExpirations() },
      (
        [.missedExpiration],
        "the snapshot shows a canceled subscription as over, and no expiry arrived"
      )),
    ReconciliationCheck(
      { $0.compareAccess() },
      ([.aheadOfSnapshot], "active by events, over or absent in the user's snapshot")),
    ReconciliationCheck(
      { $0.findAbsentSide() },
      ([.eventsAbsent], "a user with an entitlement has no events, and no transaction to name"),
      ([.missedExpiration], "an entitlement without events ended"),
      ([.snapshotAbsent], "a user active by events is missing in a complete set of snapshots")),
  ]

  private static let unmatchedEntitlements = ReconciliationCheck(
    { $0.evaluateUnmatchedEntitlements() },
    (
      [.missedStart, .missedPurchase],
      "an entitlement has a product that no subscription of the user ever had"
    ),
    ([.missedCancel], "an entitlement without events was canceled"))

  private static let starts = ReconciliationCheck(
    { user in
      // If both sides date a start, events show whether it was free and what followed it.
      user.evaluateFirstCharges(onlyDated: true)
      user.comparableMatches.forEach(user.findMissingStart)
    },
    ([.missedStart], "the snapshot shows a start before the first charge"))

  private static let periodEnds = ReconciliationCheck(
    { $0.compareEnds() },
    (periods, "the snapshot shows a later end than the events"),
    ([.missedProductChange], "the later end is of another product"),
    ([.expiryMismatch], "both sides show the last period, and the ends differ by more than 60 s"))

  private static let periods: [BreakCode] = [.missedStart, .missedConversion, .missedRenewal]
  private static let charges = periods + [.missedPurchase]
}

extension BreakCode {
  /// The severity of a break of this code; nil if its amount decides.
  ///
  /// A check may raise a break with another severity, and sandbox events never matter.
  var severity: Severity? {
    switch self {
    case .missedStart, .missedConversion, .missedRenewal, .missedPurchase, .missedRefund,
      .missedProductChange, .conflict, .unexpectedRevenue, .currencyMismatch, .rateMismatch,
      .doubleCharge, .overRefund, .fxOutlier, .priceOutlier, .impossibleSequence:
      nil
    case .late, .outOfOrder: .info
    case .missedCancel, .missedExpiration, .missedBillingIssue, .expiryMismatch, .productMismatch,
      .renewStateMismatch, .snapshotAbsent, .clock:
      .low
    case .aheadOfSnapshot, .eventsAbsent, .envLeak: .medium
    case .staleInput, .feedGap: .high
    }
  }

  /// What a person should do about such a break; `purchases` explains how to get the user's.
  private func action(asking provider: String, _ purchases: String) -> String {
    switch self {
    case .missedStart, .missedConversion, .missedRenewal, .missedPurchase, .missedRefund:
      "\(purchases); have the event sent again; a decision closes the break and books nothing"
    case .missedCancel, .missedExpiration, .missedBillingIssue, .missedProductChange:
      "have the event sent again; money is not concerned, churn and its reasons are"
    case .expiryMismatch, .productMismatch, .renewStateMismatch:
      "take a new snapshot of the user; if it still differs, ask \(provider)"
    case .aheadOfSnapshot:
      "take a new snapshot of the user; look for a refund, a revocation or a transfer"
    case .snapshotAbsent: "add the user to the snapshot job, or declare the set incomplete"
    case .eventsAbsent: "\(purchases), and check that the app's webhook is switched on"
    case .conflict: "compare the versions with explain; the latest created one counts"
    case .unexpectedRevenue: "check which events the provider's integration gives a value"
    case .currencyMismatch, .rateMismatch, .fxOutlier, .priceOutlier:
      "compare with the store's financial report of the month"
    case .doubleCharge, .overRefund:
      "compare with the store's financial report; double_charges: book adds what is held"
    case .envLeak: "check which webhook address the sandbox of the app is set to"
    case .impossibleSequence, .outOfOrder, .late:
      "read the lineage with explain; ask \(provider) when it stays unclear"
    case .clock: "check the clock that wrote the line; explain shows its archive"
    case .feedGap:
      "look for the archive of that day, and for failures of the endpoint; fetch snapshots of the "
        + "users who were active"
    case .staleInput:
      "check that the endpoint still receives webhooks and that they are archived"
    }
  }

  /// What a person should do about a break of this code at `provider`.
  public func action(at provider: Provider) -> String { Self.actions[provider]?[self] ?? "" }

  /// Built once, because there can be as many breaks as events.
  private static let actions = Dictionary(
    uniqueKeysWithValues: Provider.allCases.map { provider in
      let purchases =
        provider.interface.path.isEmpty
        ? "ask \(provider.name) for the user's purchases"
        : "do what refetch_worklist.csv says about the subscription"
      let texts = allCases.map { ($0, $0.action(asking: provider.name, purchases)) }
      return (provider, Dictionary(uniqueKeysWithValues: texts))
    })
}
