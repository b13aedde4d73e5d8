import Foundation
import TestSupport
import Testing
import Domain

@testable import Providers

@Suite("docs/providers.md describes what the program does")
struct ProviderGuideTests {
  @Test(
    "Every name in the guide has a sample line, with the described result",
    arguments: Provider.allCases)
  func names(provider: Provider) throws {
    let reported = try Guide().names(of: provider)
    let sample = try SampleLines(provider)
    let shown = Set(sample.rows.filter { $0.sent != "-" }.map { "\($0.sent) → \($0.outcome)" })
    #expect(!reported.isEmpty, "the guide has a section for \(provider.name)")
    #expect(reported.subtracting(shown) == [], "no line of \(provider.name).jsonl shows it")
    #expect(shown.subtracting(reported) == [], "the guide's table of \(provider.name) lacks it")
  }

  @Test("A sample that names no event brings none", arguments: Provider.allCases)
  func nameless(provider: Provider) throws {
    for row in try SampleLines(provider).rows where row.sent == "-" {
      #expect(row.outcome.hasPrefix("rejected ") || row.outcome.hasPrefix("skipped "))
    }
  }

  @Test("The guide lists every reason why a line has no events, and no others")
  func reasons() throws {
    let reported = try Guide().reasons
    let known = RejectReason.allCases.map(\.rawValue) + SkipReason.allCases.map(\.rawValue)
    #expect(reported == Set(known))
  }
}

/// The tables of docs/providers.md, and its list of reasons for lines without events.
private struct Guide {
  private(set) var reasons: Set<String> = []
  private let sections: [Substring: [[String]]]

  init() throws {
    let text = try Project.text(of: "docs/providers.md")
    var sections: [Substring: [[String]]] = [:]
    var current: Substring = ""
    for line in text.split(separator: "\n") {
      if line.hasPrefix("## ") { current = line.dropFirst(3) }
      if line.hasPrefix("| `") { sections[current, default: []].append(Self.quoted(line)) }
      if let reason = line.prefixMatch(of: /- `([a-z_]+)`:/)?.1 { reasons.insert(String(reason)) }
    }
    self.sections = sections
  }

  /// The names in the provider's section as `name → outcome`.
  ///
  /// Table headers also have backticks, but only in one cell.
  func names(of provider: Provider) -> Set<String> {
    let section = sections.first { $0.key.lowercased() == provider.name }
    let rows = (section?.value ?? []).filter { $0.count > 1 && !$0[1].isEmpty }
    return Set(rows.map { "\($0[0]) → \($0[1])" })
  }

  /// The cells of a row that consist of text in backticks; other cells are empty.
  private static func quoted(_ row: Substring) -> [String] {
    row.split(separator: "|").map { cell in
      let text = cell.trimmingCharacters(in: .whitespaces)
      let isQuoted = text.count > 2 && text.hasPrefix("`") && text.hasSuffix("`")
      return isQuoted ? String(text.dropFirst().dropLast()) : ""
    }
  }
}
