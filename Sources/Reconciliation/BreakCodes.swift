public import Domain

extension BreakCode {
  /// How much a break of the code matters; nil where its amount decides.
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

  /// What a person does about a break of the code.
  ///
  /// - Parameters:
  ///   - provider: the provider to ask.
  ///   - purchases: how to get the user's purchases.
  func action(asking provider: String, _ purchases: String) -> String {
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

  /// What a person does about a break of the code at `provider`.
  public func action(at provider: Provider) -> String {
    let purchases =
      provider.interface.path.isEmpty
      ? "ask \(provider.name) for the user's purchases"
      : "make the call that refetch_worklist.csv has for the subscription"
    return action(asking: provider.name, purchases)
  }
}
