public import Domain

/// A person's decision about a break, which then no longer affects any gate.
public struct Decision: Sendable, Equatable {
  /// What people decided about the break.
  public enum Verdict: String, CaseIterable, Sendable {
    /// The difference is understood; no event is missing.
    case explained
    /// The missing event is written off.
    case writtenOff = "written_off"
  }

  /// The break's id.
  public var breakID: String
  /// What people decided about the break.
  public var verdict: Verdict
  /// Reason, for the auditor of the numbers.
  public var reason: String
  /// Person who decided.
  public var who: String

  /// Creates a decision about the break `breakID`.
  public init(breakID: String, verdict: Verdict, reason: String, who: String) {
    self.breakID = breakID
    self.verdict = verdict
    self.reason = reason
    self.who = who
  }
}

extension Ledger {
  /// Returns the decisions of the newest run, by break id.
  public func decisions() throws(SubledgerError) -> [Decision] {
    try all("read the decisions", "select break_id, verdict, reason, who from decision") {
      Decision(
        breakID: $0.text(0), verdict: try $0.value(1), reason: $0.text(2), who: $0.text(3))
    }
  }

  /// Replaces the decisions of an earlier run by `decisions`.
  ///
  /// The decisions file counts, so a decision that was deleted from it no longer applies. Each
  /// decision names a different break, known or not.
  public func replaceDecisions(_ decisions: [Decision]) throws(SubledgerError) {
    try change("write the decisions") { database in
      try database.execute("delete from decision")
      for decision in decisions.sorted(by: { $0.breakID < $1.breakID }) {
        try database.run(
          "insert into decision (break_id, verdict, reason, who) values (?, ?, ?, ?)",
          decision.breakID, decision.verdict, decision.reason, decision.who)
      }
    }
  }
}
