import Foundation
import Testing

@Suite("The documents cover everything that exists")
struct DocumentTests {
  @Test("Every subcommand is in README.md")
  func commands() throws {
    let readme = try document("README.md")
    var found = 0
    for path in Repository.files(under: "Sources/subledger", ending: ".swift") {
      let text = try document(path)
      for match in try matches(of: #"commandName:\s*"([a-z-]+)""#, in: text)
      where match.group != "subledger" {
        found += 1
        let line = "subledger (config .*\\b)?\(match.group)\\b"
        guard try matches(of: line, in: readme).isEmpty else { continue }
        expectNone([
          Violation(path: path, line: match.line, problem: "README.md lacks `\(match.text)`")
        ])
      }
    }
    #expect(found >= 14)
  }

  @Test("Every file and column of reports is in docs/reports.md")
  func reports() throws {
    let guide = ReportGuide(try document("docs/reports.md"))
    let paths = Repository.files(under: "reports", ending: ".csv")
    try #require(paths.count > 10)
    for path in paths {
      let header = try document(path).split(whereSeparator: \.isNewline).first ?? ""
      expectNone(guide.violations(path: path, header: String(header)))
    }
  }

  @Test("Every table of the ledger is in docs/ledger.md")
  func ledger() throws {
    let guide = try document("docs/ledger.md")
    let paths = Repository.files(under: "Sources/EventStore/Schema", ending: ".sql")
    try #require(!paths.isEmpty)
    for path in paths {
      expectNone(SchemaGuide.violations(path: path, sql: try document(path), guide: guide))
    }
  }

  @Test("The modules in docs/architecture.md are those of Package.swift, in order")
  func modules() throws {
    let text = try document("docs/architecture.md")
    let chapter = try #require(text.split(separator: "\n## ").first { $0.hasPrefix("Modules") })
    let listed = try matches(of: "^- `(\\w+)`:", in: String(chapter)).map(\.group)
    let plan = try TargetOrder(manifest: document("Package.swift"))
    let targets = plan.targets.map(\.name).filter { name in
      Repository.swiftFiles.contains { $0.path.hasPrefix("Sources/\(name)/") }
    }
    #expect(listed == targets)
  }

  @Test("Every type in docs/glossary.md exists")
  func glossary() throws {
    let path = "docs/glossary.md"
    let sources = Repository.swiftFiles.filter { $0.path.hasPrefix("Sources/") }
    let types = Set(
      try sources.flatMap {
        try matches(of: "(?:struct|class|enum|protocol) (\\w+)", in: $0.code).map(\.group)
      })
    for match in try matches(of: "[(,] ?`([A-Z][a-z]\\w+)`", in: document(path))
    where !types.contains(match.group) {
      expectNone([
        Violation(path: path, line: match.line, problem: "\(match.group) does not exist")
      ])
    }
  }

  @Test("Every link between documents leads to a file")
  func links() throws {
    let names = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].filter(Repository.has)
    let documents = Repository.files(under: "docs", ending: ".md")
    try #require(!documents.isEmpty)
    for path in names + documents {
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

  @Test("Every earlier release has a ledger for migration tests")
  func ledgers() throws {
    let release = try document("Sources/subledger/Release.swift")
    let this = try #require(try matches(of: #"version = "([0-9.]+)""#, in: release).first?.group)
    let releases = try matches(of: "^## ([0-9.]+)$", in: document("CHANGELOG.md")).map(\.group)
    #expect(releases.contains(this))
    for earlier in releases where earlier != this {
      let ledger = "Tests/Ledgers/\(earlier)/ledger.sqlite.gz"
      guard !Repository.has(ledger) else { continue }
      expectNone([
        Violation(
          path: "CHANGELOG.md", problem: "\(ledger) is missing: make ledger RELEASE=\(earlier)")
      ])
    }
  }

  private func document(_ path: String) throws -> String {
    try #require(Repository.text(of: path), "\(path) is missing")
  }
}
