/// What docs/reports.md says, by the files it has a section for.
struct ReportGuide {
  /// Rows of the section about columns that mean the same in every file.
  private var shared: Set<String> = []
  private var files: [String: Set<String>] = [:]

  init(_ text: String) {
    var current: [String] = []
    for line in text.split(separator: "\n") {
      if line.hasPrefix("## ") {
        current = quotedNames(line)
        for name in current { files[name] = [] }
      } else if line.hasPrefix("| `") {
        let columns = quotedNames(firstCell(line))
        if current.isEmpty { shared.formUnion(columns) }
        for name in current { files[name, default: []].formUnion(columns) }
      }
    }
  }

  /// `path` is that of a CSV below `reports/`; a file per month stands for its folder.
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

/// The texts between backticks.
private func quotedNames(_ text: Substring) -> [String] {
  text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
    .filter { $0.offset % 2 == 1 }.map { String($0.element) }
}

/// The first cell of a row of a Markdown table.
private func firstCell(_ row: Substring) -> Substring {
  row.split(separator: "|", maxSplits: 1).first ?? ""
}

/// Tables and columns of the ledger against docs/ledger.md.
enum SchemaGuide {
  static func violations(path: String, sql: String, guide: String) throws -> [Violation] {
    var sections: [String: Set<String>] = [:]
    for section in guide.split(separator: "\n## ") {
      let lines = section.split(separator: "\n")
      let columns = lines.filter { $0.hasPrefix("| `") }.flatMap { quotedNames(firstCell($0)) }
      for table in quotedNames(lines.first ?? "") { sections[table] = Set(columns) }
    }
    var found: [Violation] = []
    for (table, column, line) in columns(of: sql) {
      let isKnown = sections[table]?.contains(column) ?? false
      if !isKnown {
        found.append(
          Violation(path: path, line: line, problem: "docs/ledger.md lacks \(table).\(column)"))
      }
    }
    return found
  }

  /// Columns in order; lines of constraints begin with another word than a column's name.
  private static func columns(of sql: String) -> [(table: String, column: String, line: Int)] {
    let constraints: Set<Substring> = ["primary", "unique", "check", "foreign", "constraint"]
    var table = ""
    var depth = 0
    var found: [(String, String, Int)] = []
    for (index, line) in sql.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let code = line.firstRange(of: "--").map { line[..<$0.lowerBound] } ?? line
      let words = code.split { " (),".contains($0) }
      if depth == 0, code.hasPrefix("create table") { table = words.last.map(String.init) ?? "" }
      if depth == 1, !table.isEmpty, let first = words.first, !constraints.contains(first) {
        if words.count > 1, !code.hasPrefix(")") { found.append((table, String(first), index + 1)) }
      }
      depth += code.count { $0 == "(" } - code.count { $0 == ")" }
      if depth == 0, code.contains(";") { table = "" }
    }
    return found
  }
}
