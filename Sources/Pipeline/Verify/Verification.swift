import EventStore
import Reports
public import Domain

/// The result of verifying a ledger, its archives and a published set.
public struct Verification: Sendable, Equatable {
  /// The checks in the order of execution.
  var checks: [CheckResult] = []

  /// The worst outcome: damage explains differences.
  var outcome: CheckResult.Outcome {
    let outcomes = Set(checks.map(\.outcome))
    return outcomes.contains(.damaged) ? .damaged : outcomes.contains(.differs) ? .differs : .holds
  }

  /// The checks, one line each, followed by their notes.
  public var text: String {
    let lines = Record.table(checks.map(\.record)).dropFirst()
    return zip(lines, checks).flatMap { line, check in
      [line] + check.notes.map { "           " + $0.shown() }
    }.joined(separator: "\n")
  }

  /// The error for a failed verification; nil when every check holds.
  public var failure: SubledgerError? {
    let wrong = checks.filter { $0.outcome == .damaged || $0.outcome == .differs }.map(\.name)
    guard !wrong.isEmpty else { return nil }
    return SubledgerError(
      outcome == .damaged ? .damagedInput : .identity,
      "verification failed: \(wrong.joined(separator: ", "))",
      hint: "keep the files as they are; docs/verify.md explains each check and its remedy")
  }
}

private extension CheckResult {
  var record: Record {
    let part = wrong > 0 ? "\(wrong) of " : ""
    // Some items are wrong before they can be counted.
    let total = max(count, wrong)
    let noun = total == 1 ? String(unit.dropLast()) : unit
    return [
      "outcome": .plain(outcome.rawValue), "name": .plain(name),
      "result": .plain("\(part)\(total) \(noun)"),
    ]
  }
}
