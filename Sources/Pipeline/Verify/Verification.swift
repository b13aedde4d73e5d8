import Domain

/// What of a ledger, its archives and a published set was held to what proves it.
public struct Verification: Sendable, Equatable {
  /// How a check ended.
  public enum Outcome: String, Sendable {
    /// All that was looked at is as it was written.
    case holds
    /// Something is not as it was written: the file, a row, an archive, a published file.
    case damaged
    /// Everything is unchanged, but a repetition gives another result.
    case differs
    /// There was nothing to look at, or no sense in it any more.
    case skipped
  }

  /// One check.
  public struct Check: Sendable, Equatable {
    /// The checked item.
    public var name: String
    /// How it ended.
    public var outcome = Outcome.holds
    /// How many things were looked at.
    public var count: Int64 = 0
    /// Their unit, such as `rows` or `files`.
    public var unit: String
    /// How many are wrong, or which were not checked.
    public var wrong: Int64 = 0
    /// The first defects, and notes.
    public var notes: [String] = []

    init(_ name: String, unit: String) {
      self.name = name
      self.unit = unit
    }

    mutating func fail(_ outcome: Outcome, _ note: String) {
      self.outcome = outcome
      wrong += 1
      if notes.count < Self.shown { notes.append(note) }
    }

    /// The same, skipped for the reason in `note`.
    func skipped(_ note: String) -> Check {
      var check = self
      check.outcome = .skipped
      check.notes.append(note)
      return check
    }

    private static let shown = 20
  }

  /// The checks in the order in which they were made.
  public internal(set) var checks: [Check] = []

  /// The worst outcome: damage explains what differs.
  public var outcome: Outcome {
    let outcomes = Set(checks.map(\.outcome))
    return outcomes.contains(.damaged) ? .damaged : outcomes.contains(.differs) ? .differs : .holds
  }

  /// A line per check, with its defects below.
  public var text: String {
    let width = checks.map(\.name.count).max() ?? 0
    return checks.map { check in
      let name = padded(check.name, to: width)
      let count = check.wrong > 0 ? "\(check.wrong) of \(check.count)" : "\(check.count)"
      let line = "\(padded(check.outcome.rawValue, to: 7))  \(name)  \(count) \(check.unit)"
      return ([line] + check.notes.map { "           " + $0.shown() }).joined(separator: "\n")
    }.joined(separator: "\n")
  }

  /// The same as JSON.
  public var json: String {
    let document = JSONValue.object([
      "outcome": .string(outcome.rawValue),
      "checks": .array(
        checks.map { check in
          .object([
            "name": .string(check.name), "outcome": .string(check.outcome.rawValue),
            "count": .integer(check.count), "unit": .string(check.unit),
            "wrong": .integer(check.wrong),
            "notes": .array(check.notes.map { .string($0.shown()) }),
          ])
        }),
    ]).document
    return String(decoding: document.dropLast(), as: UTF8.self)
  }

  /// Why verifying fails; nil when all holds.
  public var failure: SubledgerError? {
    let wrong = checks.filter { $0.outcome == .damaged || $0.outcome == .differs }.map(\.name)
    guard !wrong.isEmpty else { return nil }
    return SubledgerError(
      outcome == .damaged ? .damagedInput : .identity,
      "what was verified does not hold: \(wrong.joined(separator: ", "))",
      hint: "keep the files as they are; docs/verify.md says what each check means and what helps")
  }
}

private func padded(_ text: String, to width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}
