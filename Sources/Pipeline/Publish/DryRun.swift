public import Reports

/// The result of a dry run: what a real one would have done.
public struct DryRun: Sendable, Equatable {
  /// A summary of the input; empty without input.
  public var intake = ""
  /// What would become of the published set; nil when none was asked for.
  public var changes: SetChanges?
  /// The folder of the published set.
  public var out = ""

  /// For a person, a line for each file.
  public var text: String {
    var lines = [Self.notice]
    if !intake.isEmpty { lines.append(intake) }
    if let changes {
      lines += changes.added.map { "would add \(out)/\($0)" }
      lines += changes.changed.map { "would change \(out)/\($0)" }
      lines += changes.removed.map { "would remove \(out)/\($0)" }
      if changes.isEmpty { lines.append("would change nothing in \(out)") }
    }
    return lines.joined(separator: "\n")
  }

  /// What every answer of a dry run begins with.
  static let notice = "a dry run: the ledger is as it was"
}

extension SetChanges {
  /// Whether the set would stay as it is.
  var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty }
}
