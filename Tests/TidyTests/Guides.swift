/// The content of docs/reports.md, by the files that have a section.
struct ReportGuide {
  /// Entries of the section about columns with one meaning in every file.
  private var shared: Set<String> = []
  private var files: [String: Set<String>] = [:]

  init(_ text: String) {
    var current: [String] = []
    for line in text.split(separator: "\n") {
      if line.hasPrefix("## ") {
        current = quotedNames(line)
        for name in current { files[name] = [] }
      } else if line.hasPrefix("- `") {
        let columns = quotedNames(term(line))
        if current.isEmpty { shared.formUnion(columns) }
        for name in current { files[name, default: []].formUnion(columns) }
      }
    }
  }

  /// `path` is a CSV below `reports/`; a monthly file counts as its folder.
  func violations(path: String, header: String) -> [Violation] {
    var name = path.split(separator: "/").dropFirst().joined(separator: "/")
    if let slash = name.firstIndex(of: "/") { name = "\(name[..<slash])/YYYY-MM.csv" }
    guard let known = files[name] else {
      return [Violation(path: path, problem: "docs/reports.md has no section for `\(name)`")]
    }
    let columns = header.drop { $0 == "\u{FEFF}" }.split(separator: ",").map(String.init)
    return columns.filter { !known.contains($0) && !shared.contains($0) }.map {
      Violation(path: path, line: 1, problem: "docs/reports.md lacks the column `\($0)`")
    }
  }
}

/// The texts in backticks.
private func quotedNames(_ text: Substring) -> [String] {
  text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
    .filter { $0.offset % 2 == 1 }.map { String($0.element) }
}

/// The term that a list entry explains.
private func term(_ entry: Substring) -> Substring {
  entry.prefix { $0 != ":" }
}

/// Compares the ledger's tables with docs/ledger.md.
enum SchemaGuide {
  static func violations(path: String, sql: String, guide: String) -> [Violation] {
    let entries = guide.split(separator: "\n").filter { $0.hasPrefix("- `") }
    let known = Set(entries.flatMap { quotedNames(term($0)) })
    let lines = sql.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    return lines.compactMap { index, line in
      guard line.hasPrefix("create table "),
        let table = line.split(separator: " ").dropFirst(2).first,
        !known.contains(String(table))
      else { return nil }
      return Violation(path: path, line: index + 1, problem: "docs/ledger.md lacks \(table)")
    }
  }
}
