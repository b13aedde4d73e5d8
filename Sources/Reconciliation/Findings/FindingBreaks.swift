public import Subscriptions
public import Domain

/// The breaks from one lineage's own events, such as revenue on an event that books none.
///
/// Findings about sandbox traffic are informational: they concern no money. So are deliveries that
/// arrived late or out of order: the event did arrive, so the break is resolved at once.
///
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
      expectedAt: finding.time, worth: (isSandbox ? nil : finding.difference, .provider),
      evidence: finding.evidence
    ).finishedAtOnce(of: lineage, rules)
    byID[found.id] = found
  }
  return byID.values.sorted { $0.id < $1.id }
}

extension FoldFinding {
  /// One event whose versions differ in material fields.
  ///
  /// - Parameters:
  ///   - versions: the number of versions, including the counted one.
  ///   - fields: names of the fields that differ, never their contents.
  public static func conflict(of event: Event, versions: Int, fields: [String]) -> FoldFinding {
    let named = fields.isEmpty ? "" : " in \(fields.sorted().joined(separator: ", "))"
    let isCut = versions >= Event.versionsMax
    return FoldFinding(
      .conflict, event,
      "\(versions)\(isCut ? " or more" : "") versions of one event of \(event.time.text) "
        + "differ\(named)")
  }
}

/// The `CLOCK` of an event after as-of that is beyond its feed's range.
public func clockBreak(
  ahead event: Event, lineage: LineageInput, rules: ReconciliationSettings
) -> Break {
  let received = event.received.map { ", received \($0.text)," } ?? ""
  return BreakDraft(
    code: .clock, subject: lineageSubject(lineage, product: event.product),
    key: .event(event.identity), transaction: lineage.transactionText(event.transaction),
    evidence: "\(event.kindAndTime)\(received) is after as-of and not counted"
  ).finishedAtOnce(of: lineage, rules)
}

/// The subscription of a lineage in the form of breaks.
func lineageSubject(_ lineage: LineageInput, product: StringID) -> BreakSubject {
  BreakSubject(
    provider: lineage.state.provider, app: lineage.app, environment: lineage.state.environment,
    store: lineage.state.store, user: lineage.user, original: lineage.original,
    product: lineage.text(product))
}

extension BreakDraft {
  /// The finished break about something that arrived for `lineage`: nothing can still settle.
  func finishedAtOnce(of lineage: LineageInput, _ rules: ReconciliationSettings) -> Break {
    var found = finished(knownAt: rules.fold.asOf, rules)
    found.lineage = lineage.state.lineage
    found.status = code.isAboutArrival ? .resolved : .open
    if subject.environment == .sandbox { found.severity = .info }
    found.settlesAt = nil
    if code.isAboutArrival { found.evidenceExpiresAt = nil }
    return found
  }
}

/// The `ENV_LEAK` of the production `lineage` whose `counterpart` arrived as sandbox.
public func environmentLeak(
  _ lineage: LineageInput, counterpart: LineageInput, rules: ReconciliationSettings
) -> Break {
  BreakDraft(
    code: .envLeak, subject: lineageSubject(lineage, product: lineage.state.product),
    key: .environment,
    evidence: "events of one subscription came as production from "
      + "\(lineage.state.firstEventAt.text) and as sandbox from "
      + "\(counterpart.state.firstEventAt.text)"
  ).finishedAtOnce(of: lineage, rules)
}
