import Testing

/// A module that only some folders may import.
struct ImportRule: Sendable, CustomTestStringConvertible {
  let module: String
  /// Beginnings of paths below Sources that may import it; empty means all but `never`.
  var only: [String] = []
  var never: [String] = []

  var testDescription: String {
    only.isEmpty
      ? "\(module) stays out of \(never.joined(separator: ", "))"
      : "\(module) is imported only in \(only.joined(separator: ", "))"
  }

  static let all = [
    ImportRule(module: "CZlib", only: ["Archive/", "Ledger/Bytes/Gzip.swift", "Simulate/"]),
    ImportRule(module: "CIsal", only: ["Archive/IsalStream.swift"]),
    ImportRule(module: "CCrypto", only: ["Digest/"]),
    ImportRule(module: "CRename", only: ["Publish/"]),
    ImportRule(module: "CMalloc", only: ["Ledger/"]),
    ImportRule(module: "GRDB", only: ["Ledger/"]),
    ImportRule(module: "GRDBSQLite", only: ["Ledger/"]),
    ImportRule(module: "SQLite3", only: ["Ledger/"]),
    ImportRule(module: "CSQLite", only: ["Ledger/"]),
    ImportRule(module: "Yams", only: ["Nightly/"]),
    ImportRule(module: "CYaml", only: ["Nightly/Settings/YAMLBounds.swift"]),
    ImportRule(module: "Logging", only: ["Nightly/", "subledger/"]),
    ImportRule(module: "ArgumentParser", only: ["subledger/"]),
    ImportRule(module: "Dispatch", only: ["Nightly/Workers.swift", "subledger/"]),
    ImportRule(module: "Synchronization", only: ["Nightly/Workers.swift", "subledger/"]),
    ImportRule(module: "Foundation", never: ["Vocabulary/", "Timeline/", "Reconcile/"]),
  ]

  func violations(in file: SourceFile) throws -> [Violation] {
    guard file.path.hasPrefix("Sources/"), !mayImport(file.path.dropFirst("Sources/".count)) else {
      return []
    }
    let kinds = "(?:struct|class|enum|protocol|func|var|let|typealias)"
    return try matches(of: #"^.*\bimport\s+(?:\#(kinds)\s+)?\#(module)\b"#, in: file.code).map {
      Violation(path: file.path, line: $0.line, problem: testDescription)
    }
  }

  private func mayImport(_ path: Substring) -> Bool {
    if only.isEmpty { return !never.contains { path.hasPrefix($0) } }
    return only.contains { path.hasPrefix($0) }
  }
}
