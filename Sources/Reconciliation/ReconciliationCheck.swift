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

/// The table of break codes of the reference, from what the checks declare.
enum BreakTable {
  static let header = [
    "| code | severity | raised when | action |", "|---|---|---|---|",
  ]

  /// All conditions, in the order of evaluation; conditions without a user come last.
  static var conditions: [BreakCondition] {
    Reconciler.checks.flatMap { $0.conditions } + findingConditions
  }

  /// One row for each code, in the order of the codes.
  static var rows: [String] {
    BreakCode.allCases.map { code in
      let conditions = conditions.filter { $0.codes.contains(code) }.map(\.condition)
      let severity = code.severity.map(\.rawValue) ?? "by amount"
      return "| `\(code.rawValue)` | \(severity) | \(conditions.joined(separator: "; ")) | "
        + "\(code.action(asking: "the provider", "fetch the user's purchases")) |"
    }
  }
}
