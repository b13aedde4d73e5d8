import Reports
public import Domain

/// The result of verifying a ledger, its archives and a published set.
public struct Verification: Sendable, Equatable {
  /// The result of a check.
  enum Outcome: String, Sendable {
    /// Everything that was checked is unchanged.
    case holds
    /// Something was changed: the file, a row, an archive, a published file.
    case damaged
    /// Everything is unchanged, but a reproduction gives another result.
    case differs
    /// There was nothing to check, or the check was no longer useful.
    case skipped
  }

  struct Check: Sendable, Equatable {
    let name: String
    var outcome = Outcome.holds
    /// Number of checked items.
    var count: Int64 = 0
    /// Unit of the items, such as `rows` or `files`.
    let unit: String
    var wrong: Int64 = 0
    /// The first defects, and what was not checked.
    var notes: [String] = []

    mutating func fail(_ outcome: Outcome, _ note: String) {
      self.outcome = outcome
      wrong += 1
      if notes.count < Self.shown { notes.append(note) }
    }

    func skipped(_ note: String) -> Check {
      var check = self
      check.outcome = .skipped
      check.notes.append(note)
      return check
    }

    var record: Record {
      let part = wrong > 0 ? "\(wrong) of " : ""
      let noun = total == 1 ? String(unit.dropLast()) : unit
      return Record([
        ("outcome", .plain(outcome.rawValue)), ("name", .plain(name)),
        ("result", .plain("\(part)\(total) \(noun)")),
      ])
    }

    /// Number of items, including those that were wrong before they could be counted.
    var total: Int64 { max(count, wrong) }

    private static let shown = 20
  }

  /// The checks in the order of execution.
  var checks: [Check] = []

  /// The worst outcome: damage explains differences.
  var outcome: Outcome {
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
