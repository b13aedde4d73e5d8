import Foundation
import Testing

@Suite("The documents speak of everything there is")
struct DocumentTests {
  @Test("Every subcommand is in README.md")
  func commands() throws {
    let readme = try document("README.md")
    for path in Repository.files(under: "Sources/subledger", ending: ".swift") {
      let text = try document(path)
      for match in try matches(of: #"commandName:\s*"([a-z-]+)""#, in: text)
      where match.group != "subledger" && !readme.contains("subledger \(match.group)") {
        expectNone([
          Violation(path: path, line: match.line, problem: "README.md lacks `\(match.text)`")
        ])
      }
    }
  }

  @Test("Every file and column of reports is in docs/reports.md")
  func reports() throws {
    let guide = ReportGuide(try document("docs/reports.md"))
    for path in Repository.files(under: "reports", ending: ".csv") {
      let header = try document(path).split(whereSeparator: \.isNewline).first ?? ""
      expectNone(guide.violations(path: path, header: String(header)))
    }
  }

  @Test("Every table and column of the ledger is in docs/ledger.md")
  func ledger() throws {
    let guide = try document("docs/ledger.md")
    for path in Repository.files(under: "Sources/Ledger/Schema", ending: ".sql") {
      expectNone(try SchemaGuide.violations(path: path, sql: document(path), guide: guide))
    }
  }

  @Test("Every key of the configuration is in subledger.example.yaml")
  func configuration() throws {
    let example = try document("subledger.example.yaml")
    let reader = try document("Sources/Nightly/Settings/ConfigurationReader.swift")
    let options = try document("Sources/Nightly/Settings/Options.swift")
    let keys =
      try matches(of: #"case "([a-z_]+)":"#, in: reader)
      + matches(of: #"case \w+ = "([a-z_]+)""#, in: options)
    for key in keys where try matches(of: "^[# ]*\(key.group):", in: example).isEmpty {
      expectNone([Violation(path: "subledger.example.yaml", problem: "lacks `\(key.group)`")])
    }
  }

  @Test("Every link between documents leads to a file")
  func links() throws {
    let names = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].filter(Repository.has)
    for path in names + Repository.files(under: "docs", ending: ".md") {
      let folder = (path as NSString).deletingLastPathComponent
      for match in try matches(of: #"\]\(([^)#\s]+)[^)]*\)"#, in: document(path))
      where !match.group.contains("://") {
        let target = (folder as NSString).appendingPathComponent(match.group)
        guard !Repository.has(target) else { continue }
        expectNone([
          Violation(path: path, line: match.line, problem: "\(target) does not exist")
        ])
      }
    }
  }

  private func document(_ path: String) throws -> String {
    try #require(Repository.text(of: path), "\(path) is missing")
  }
}
