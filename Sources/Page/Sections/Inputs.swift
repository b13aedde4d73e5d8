// Inputs, their age, and which numbers are reliable.
internal import Domain
internal import Reports

/// The lines of the archives, and the newest input of each feed.
struct InputList {
  let table: String
  let feeds: [PageItem]
  let rejected: [PageItem]
  let archives: String
  let sources: [Source]
}

/// For each metric and provider, how reliable its numbers are and in how many feeds.
struct CoverageTable {
  struct Row {
    let metric: String
    /// One for each provider: text, style and the filter of its feeds; if not all of them have this
    /// coverage, also how many have it, of how many, and their filter.
    let cells: [PageItem]
  }

  let providers: [String]
  let rows: [Row]
}

extension SetContents {
  func inputList() throws -> InputList {
    let measures = ["lines", "accepted", "duplicates", "skipped", "rejected"]
    let table = PageTable(
      inputs, "Status of archives", inputs.values(of: "status"),
      measures.map { ($0.capitalised, .sum($0), .count) }, titled: \.capitalised)
    var count = 0
    var rejected = ShortList<[String]>(count: 10) {
      let (left, right) = (micros($0[2]) ?? 0, micros($1[2]) ?? 0)
      return left == right ? $0.lexicographicallyPrecedes($1) : left > right
    }
    try set.forEachRow(of: inputs.report, ["archive", "sha256", "rejected"]) { cells in
      count += 1
      if micros(cells[2]) ?? 0 > 0 { rejected.add(cells) }
    }
    return InputList(
      table: table.rows.isEmpty ? "" : table.html(caption: "Lines of the archives", numbers),
      feeds: set.manifest.watermarks.compactMap(feed),
      rejected: rejected.sorted.map { cells in
        [
          "name": cells[0],
          "filter": RowFilter("archive", cells[0]).and("sha256", cells[1]).attribute(),
          "lines": numbers.text(micros(cells[2]), .count),
        ]
      }, archives: numbers.text(Int128(count) * 1_000_000, .count), sources: table.sources)
  }

  func coverage() throws -> CoverageTable {
    var metrics: [String] = []
    var counts: [[String]: Int] = [:]
    try set.forEachRow(of: "coverage", ["metric", "provider", "coverage"]) { cells in
      if !metrics.contains(cells[0]) { metrics.append(cells[0]) }
      counts[cells, default: 0] += 1
    }
    let providers = Set(counts.keys.map { $0[1] }).sorted()
    let words = [
      ("measured", "measured"), ("estimated", "estimated"), ("not_available", "missing"),
    ]
    let rows = metrics.map { metric in
      let cells = providers.map { provider -> PageItem in
        let found = words.map { (word: $0, count: counts[[metric, provider, $0.0]] ?? 0) }
        let all = found.reduce(0) { $0 + $1.count }
        // The least reliable of the provider's feeds decides.
        guard let worst = found.last(where: { $0.count > 0 }) else {
          return ["text": "–", "style": "z"]
        }
        var cell = [
          "text": worst.word.0.replacing("_", with: " "), "style": worst.word.1,
          "filter": RowFilter("metric", metric).and("provider", provider).attribute(),
        ]
        if worst.count < all {
          cell["count"] = numbers.text(Int128(worst.count) * 1_000_000, .count)
          cell["all"] = numbers.text(Int128(all) * 1_000_000, .count)
          cell["counted"] = RowFilter("coverage", worst.word.0).attribute()
        }
        return cell
      }
      return CoverageTable.Row(metric: metric.replacing("_", with: " "), cells: cells)
    }
    return CoverageTable(
      providers: providers.map { shownName($0, of: "provider") }, rows: rows)
  }
}

/// An item for a watermark of the manifest; nil if it is malformed.
private func feed(_ watermark: JSONValue) -> PageItem? {
  guard case .object(let members) = watermark, case .string(let newest) = members["newest"],
    case .string(let provider) = members["provider"], case .string(let app) = members["app_id"]
  else { return nil }
  let name = shownName(provider, of: "provider")
  return ["feed": app.isEmpty ? name : "\(name) · \(app.escaped)", "newest": minute(newest)]
}

extension String {
  var capitalised: String { prefix(1).uppercased() + dropFirst() }
}
