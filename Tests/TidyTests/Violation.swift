import Testing

/// A position in the repository that breaks a rule.
struct Violation: CustomStringConvertible {
  let path: String
  /// From 1; 0 for the whole file.
  var line = 0
  let problem: String

  var description: String { line == 0 ? "\(path): \(problem)" : "\(path):\(line): \(problem)" }
}

/// Fails once for each violation, with file and line.
func expectNone(_ violations: [Violation], sourceLocation: SourceLocation = #_sourceLocation) {
  for violation in violations {
    Issue.record(Comment(rawValue: violation.description), sourceLocation: sourceLocation)
  }
}
