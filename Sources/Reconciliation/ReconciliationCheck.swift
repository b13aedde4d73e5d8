import Domain

/// One rule that compares a user's subscriptions with the snapshot, with each other or with the
/// calendar.
///
/// A new check is one file in `Checks` and one entry of `Reconciler.checks`.
protocol ReconciliationCheck: Sendable {
  /// The codes that it raises, and when: its part of the table of break codes.
  static var conditions: [BreakCondition] { get }
  /// Raises the breaks of one user, without what earlier checks found.
  static func evaluate(_ user: inout Reconciler)
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
