import Reports
public import Domain

/// What of a ledger, its archives and a published set was held to what proves it.
public struct Verification: Sendable, Equatable {
  /// How a check ended.
  enum Outcome: String, Sendable {
    /// All that was looked at is as it was written.
    case holds
    /// Something is not as it was written: the file, a row, an archive, a published file.
    case damaged
    /// All is as it was written, but a reproduction gives something else.
    case differs
    /// There was nothing to look at, or no sense in it any more.
    case skipped
  }

  struct Check: Sendable, Equatable {
    let name: String
    var outcome = Outcome.holds
    /// How many things were looked at.
    var count: Int64 = 0
    /// Their unit, such as `rows` or `files`.
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

    /// How many things there are, with those that were wrong before they could be counted.
    var total: Int64 { max(count, wrong) }

    private static let shown = 20
  }

  /// The checks in the order in which they were made.
  var checks: [Check] = []

  /// The worst outcome: damage explains what differs.
  var outcome: Outcome {
    let outcomes = Set(checks.map(\.outcome))
    return outcomes.contains(.damaged) ? .damaged : outcomes.contains(.differs) ? .differs : .holds
  }

  /// The checks as a line each with notes below it.
  public var text: String {
    let lines = Record.table(checks.map(\.record)).dropFirst()
    return zip(lines, checks).flatMap { line, check in
      [line] + check.notes.map { "           " + $0.shown() }
    }.joined(separator: "\n")
  }

  /// Why verifying fails; nil when all holds.
  public var failure: SubledgerError? {
    let wrong = checks.filter { $0.outcome == .damaged || $0.outcome == .differs }.map(\.name)
    guard !wrong.isEmpty else { return nil }
    return SubledgerError(
      outcome == .damaged ? .damagedInput : .identity,
      "verification failed: \(wrong.joined(separator: ", "))",
      hint: "keep the files as they are; docs/verify.md explains each check and its remedy")
  }
}
