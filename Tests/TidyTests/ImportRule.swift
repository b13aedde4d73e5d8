import Testing

/// A module that only some folders may import.
struct ImportRule: Sendable, CustomTestStringConvertible {
  let module: String
  /// Prefixes of paths below Sources that may import it; empty means all except `never`.
  var only: [String] = []
  var never: [String] = []

  var testDescription: String {
    only.isEmpty
      ? "\(module) stays out of \(never.joined(separator: ", "))"
      : "\(module) is imported only in \(only.joined(separator: ", "))"
  }

  static let all = [
    ImportRule(module: "CZlib", only: ["Formats/Gzip/"]),
    ImportRule(module: "CIsal", only: ["Formats/Gzip/IsalStream.swift"]),
    ImportRule(module: "CZstd", only: ["Formats/Gzip/ZstdStream.swift"]),
    ImportRule(module: "CBzip2", only: ["Formats/Gzip/Bzip2Stream.swift"]),
    ImportRule(module: "CXlsx", only: ["Reports/Workbook/WorkbookFile.swift"]),
    ImportRule(module: "CCrypto", only: ["Formats/Hashing/"]),
    ImportRule(module: "CCurl", only: ["HTTP/"]),
    ImportRule(module: "CRename", only: ["Reports/Publication/"]),
    ImportRule(module: "CPipe", only: ["Formats/Places/"]),
    ImportRule(module: "CMalloc", only: ["EventStore/"]),
    ImportRule(
      module: "CSQLite", only: ["EventStore/Database/", "EventStore/LedgerErrors.swift"]),
    ImportRule(module: "Mustache", only: ["Page/"]),
    ImportRule(module: "Yams", only: ["Pipeline/"]),
    ImportRule(module: "CYaml", only: ["Pipeline/Settings/YAMLFile.swift"]),
    ImportRule(module: "Logging", only: ["Pipeline/", "subledger/"]),
    ImportRule(module: "ArgumentParser", only: ["subledger/"]),
    ImportRule(module: "Dispatch", only: ["Pipeline/Workers.swift", "subledger/"]),
    ImportRule(
      module: "Synchronization",
      only: ["Pipeline/Workers.swift", "Pipeline/Spark/SparkEngine.swift", "subledger/"]),
    ImportRule(module: "Foundation", never: ["Domain/", "Subscriptions/", "Reconciliation/"]),
  ]

  func violations(in file: SourceFile) throws -> [Violation] {
    guard file.path.hasPrefix("Sources/"), !mayImport(file.path.dropFirst("Sources/".count)),
      file.code.has(module)
    else { return [] }
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
