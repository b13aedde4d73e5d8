import Testing

@testable import Nightly

@Suite("A small file does not come to more than memory holds, nor to what the library cannot take")
struct YAMLBoundsTests {
  private func problem(_ text: String) -> String? { YAMLBounds.problem(in: Array(text.utf8)) }

  /// Lists of ten, each of the one before it.
  private func laughs(_ count: Int) -> String {
    let lists = (1..<count).map { level -> String in
      let items = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
      return "a\(level): &a\(level) [\(items)]\n"
    }
    return "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + lists.joined()
  }

  @Test("Aliases may repeat 100,000 values and no more")
  func aliases() {
    #expect(problem(laughs(4)) == nil)
    #expect(problem(laughs(6)) == ": line 5: aliases repeat more than 100000 values")
    #expect(problem(laughs(30)) == ": line 5: aliases repeat more than 100000 values")
  }

  @Test("Aliases of texts are no trouble, however many")
  func texts() {
    let entries = (0..<9_000).map { _ in "- *who\n" }.joined()
    #expect(problem("- &who someone\n" + entries) == nil)
  }

  @Test("Thirty-two lists stand in one another and no more, however they got there")
  func depth() {
    func nested(_ count: Int) -> String {
      String(repeating: "[", count: count) + String(repeating: "]", count: count)
    }
    let deep = "more than 32 lists and mappings stand in one another"
    #expect(problem(nested(32)) == nil)
    #expect(problem(nested(33)) == ": line 1: \(deep)")
    #expect(problem("- &a \(nested(20))\n- [[[[[[[[[[[*a]]]]]]]]]]]\n") == nil)
    #expect(problem("- &a \(nested(20))\n- [[[[[[[[[[[[*a]]]]]]]]]]]]\n") == ": line 2: \(deep)")
  }

  @Test(
    "A list or mapping is no key",
    arguments: [
      "a: 1\n? period: P1Y\n", "a: 1\n? [b]\n: 1\n", "a: &a [b]\n*a : 1\n", "a: 1\n{b: 1}: 2\n",
    ])
  func keys(_ text: String) throws {
    #expect(problem(text) == ": line 2: a key must be a text, not a list or mapping")
    let error = #expect(throws: NightError.self) {
      try Configuration.read(Array(text.utf8), named: "a.yaml")
    }
    #expect(error?.message.hasPrefix("cannot read the configuration a.yaml: line 2: ") == true)
  }

  @Test("Both files are refused by the line and with what to do")
  func files() throws {
    let text = Array(laughs(30).utf8)
    let errors = [
      #expect(throws: NightError.self) { try Configuration.read(text, named: "a.yaml") },
      #expect(throws: NightError.self) { try DecisionsFile(text, named: "a.yaml") },
    ]
    for error in errors.compactMap(\.self) {
      #expect(error.message.contains("a.yaml: line 5: aliases repeat"))
      #expect(!error.hint.isEmpty)
      guard case .configuration = error.kind else {
        Issue.record("\(error.kind)")
        continue
      }
    }
    #expect(errors.compactMap(\.self).count == 2)
  }
}
