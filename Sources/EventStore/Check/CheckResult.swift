/// The result of checking the items of a ledger, an archive, a set or a pack.
public struct CheckResult: Sendable, Equatable {
  /// What a check found.
  public enum Outcome: String, Sendable {
    /// Everything that was checked is unchanged.
    case holds
    /// Something was changed: the file, a row, an archive, a published file.
    case damaged
    /// Everything is unchanged, but a reproduction gives another result.
    case differs
    /// There was nothing to check, or the check was no longer useful.
    case skipped
  }

  /// What was checked: for example, a table, or `file`, `schema`, `chain`.
  public var name: String
  /// The result; the one of the last failure if there are several.
  public var outcome = Outcome.holds
  /// Number of checked items.
  public var count: Int64 = 0
  /// Unit of the items, such as `rows` or `files`.
  public let unit: String
  /// Number of items that are wrong.
  public var wrong: Int64 = 0
  /// The first defects, without ids of customers, and what was not checked.
  public var notes: [String] = []

  /// Creates the result of a check that has checked nothing yet.
  public init(_ name: String, unit: String = "rows") {
    self.name = name
    self.unit = unit
  }

  /// Counts a wrong item.
  public mutating func fail(_ note: String, as outcome: Outcome = .damaged) {
    self.outcome = outcome
    wrong += 1
    if notes.count < Self.shown { notes.append(note) }
  }

  /// Returns the check as one that was not done, for the reason `note`.
  public func skipped(_ note: String) -> CheckResult {
    var check = self
    check.outcome = .skipped
    check.notes.append(note)
    return check
  }

  private static let shown = 20
}
