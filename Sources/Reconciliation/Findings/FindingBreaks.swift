public import Subscriptions
public import Domain

/// The breaks that one lineage's own events are, such as revenue where none belongs.
///
/// Findings about sandbox traffic are informational, because they concern no money. So are
/// deliveries that came late or out of order: the event did come, so the break is resolved from the
/// start and blocks nothing.
///
/// - Parameters:
///   - findings: findings of the fold of all events before as-of.
///   - lineage: the words behind the numbers.
///   - rules: decides how much a difference matters.
/// - Returns: one break per code and event, sorted by id.
public func breaks(
  from findings: [FoldFinding], lineage: LineageInput, rules: ReconciliationSettings
) -> [Break] {
  var byID: [String: Break] = [:]
  for finding in findings {
    let isSandbox = lineage.state.environment == .sandbox
    let found = BreakDraft(
      code: finding.code, subject: lineageSubject(lineage, product: finding.product),
      key: .event(finding.identity), transaction: lineage.transactionText(finding.transaction),
      expectedAt: finding.time, estimate: isSandbox ? nil : finding.difference, basis: .provider,
      severity: isSandbox ? .info : nil,
      evidence: finding.evidence
    ).finishedAtOnce(rules)
    byID[found.id] = found
  }
  return byID.values.sorted { $0.id < $1.id }
}

/// An event that came in versions whose material fields differ.
public struct EventConflict: Sendable, Equatable {
  /// Identity of the event.
  public var identity: Int64
  /// Key of its transaction; 0 when unknown.
  public var transaction: Int64
  /// Event time.
  public var time: Instant
  /// Product of the version that counts.
  public var product: StringID
  /// How many versions are listed, the one that counts included.
  public var versions: Int
  /// Names of the fields that differ, never their contents.
  public var fields: [String]
  /// Largest difference in US dollars between the versions, when money differs.
  public var difference: Amount?

  /// A conflict between `versions` versions of the event `identity`.
  public init(
    identity: Int64, transaction: Int64, time: Instant, product: StringID, versions: Int,
    fields: [String] = [], difference: Amount? = nil
  ) {
    self.identity = identity
    self.transaction = transaction
    self.time = time
    self.product = product
    self.versions = versions
    self.fields = fields
    self.difference = difference
  }
}

/// The `CONFLICT` of one event that came in versions whose material fields differ.
public func conflictBreak(
  _ conflict: EventConflict, lineage: LineageInput, rules: ReconciliationSettings
) -> Break {
  let isSandbox = lineage.state.environment == .sandbox
  let fields = conflict.fields.sorted().joined(separator: ", ")
  let named = fields.isEmpty ? "" : " in \(fields)"
  let isCut = conflict.versions >= Event.versionsMax
  let versions = "\(conflict.versions)\(isCut ? " or more" : "") versions"
  return BreakDraft(
    code: .conflict, subject: lineageSubject(lineage, product: conflict.product),
    key: .event(conflict.identity), transaction: lineage.transactionText(conflict.transaction),
    expectedAt: conflict.time, estimate: isSandbox ? nil : conflict.difference, basis: .provider,
    severity: isSandbox ? .info : nil,
    evidence: "\(versions) of one event of \(conflict.time.text) differ\(named)"
  ).finishedAtOnce(rules)
}

/// The subscription of a lineage, as a break names it.
func lineageSubject(_ lineage: LineageInput, product: StringID) -> BreakSubject {
  BreakSubject(
    provider: lineage.state.provider, app: lineage.app, environment: lineage.state.environment,
    store: lineage.state.store, user: lineage.user, original: lineage.original,
    product: lineage.text(product))
}

extension BreakDraft {
  /// A break about what did come: there is nothing to wait for.
  func finishedAtOnce(_ rules: ReconciliationSettings) -> Break {
    var found = finished(knownAt: rules.fold.asOf, rules)
    found.status = code.isAboutArrival ? .resolved : .open
    found.settlesAt = nil
    if code.isAboutArrival { found.evidenceExpiresAt = nil }
    return found
  }
}

/// The `ENV_LEAK` of one subscription whose events came in both environments.
///
/// - Parameters:
///   - lineage: the production lineage; both of one provider, app, store and original id.
///   - counterpart: what came as sandbox.
///   - rules: as-of.
public func environmentLeak(
  _ lineage: LineageInput, counterpart: LineageInput, rules: ReconciliationSettings
) -> Break {
  BreakDraft(
    code: .envLeak, subject: lineageSubject(lineage, product: lineage.state.product),
    key: .environment,
    evidence: "events of one subscription came as production from "
      + "\(lineage.state.firstEventAt.text) and as sandbox from "
      + "\(counterpart.state.firstEventAt.text)"
  ).finishedAtOnce(rules)
}

/// When the codes are raised that no user's reconciliation raises, for the table of break codes.
let findingConditions = [
  BreakCondition([.conflict], "deliveries of one event disagree"),
  BreakCondition([.unexpectedRevenue], "money on an event that books none"),
  BreakCondition([.currencyMismatch], "a refund has another currency than its charge"),
  BreakCondition(
    [.rateMismatch],
    "proceeds differ from price × rate by more than 0.5 % and 0.01, or the rate is not in 40–100 %"
  ),
  BreakCondition([.doubleCharge], "a transaction of Apple or Play is charged twice"),
  BreakCondition([.overRefund], "refunds give back more than their charge"),
  BreakCondition(
    [.fxOutlier], "the exchange rate is more than 5 % from the currency's median of ± 3 days"),
  BreakCondition(
    [.priceOutlier],
    "a renewal costs a fifth or five times of what the product and the subscription cost"),
  BreakCondition([.outOfOrder], "received after a later event of the subscription"),
  BreakCondition([.late], "received after the delivery window"),
  BreakCondition(
    [.clock],
    "created more than an hour after it was received, 20 years after its event, after as-of, or "
      + "far from the rest of its feed"),
  BreakCondition(
    [.impossibleSequence], "charge after revocation, refund before charge, end before start"),
  BreakCondition([.envLeak], "one subscription is in production and sandbox"),
  BreakCondition(
    [.feedGap],
    "a day or some hours of a feed brought none or far fewer events than the days around it"),
  BreakCondition(
    [.staleInput],
    "silent for longer than the feed's own past makes likely, or than `freshness_max`"
  ),
]
