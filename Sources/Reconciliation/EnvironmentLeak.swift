import Subscriptions
public import Domain

/// The `ENV_LEAK` of one subscription whose events came in both environments.
///
/// - Parameters:
///   - lineage: what came as production; both of one provider, app, store and original id.
///   - twin: what came as sandbox.
///   - rules: as-of.
public func environmentLeak(
  _ lineage: LineageInput, twin: LineageInput, rules: ReconciliationSettings
) -> Break {
  BreakDraft(
    code: .envLeak, subject: lineageSubject(lineage, product: lineage.state.product),
    key: .environment, severity: .medium,
    evidence: "events of one subscription came as production from "
      + "\(lineage.state.firstEventAt.text) and as sandbox from "
      + "\(twin.state.firstEventAt.text)",
    action: nextStep(.envLeak, lineage.state.provider)
  ).toldByBothSides(rules)
}
