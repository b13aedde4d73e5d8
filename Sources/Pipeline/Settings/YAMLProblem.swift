import Yams

/// Where a file stops to be YAML and why, such as `: line 3, column 7: …`; empty when unknown.
///
/// The library's own words would quote the line, secrets and people's names included.
func yamlProblem(_ error: any Error) -> String {
  switch error as? YamlError {
  case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
    .composer(_, let problem, let mark, _):
    ": line \(mark.line), column \(mark.column): \(problem)"
  case .duplicatedKeysInMapping(_, let context):
    ": a key stands twice in the mapping at line \(context.mark.line)"
  case .reader(let problem, _, _, _): ": \(problem)"
  default: ""
  }
}
