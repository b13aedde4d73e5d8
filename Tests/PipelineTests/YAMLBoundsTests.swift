import Testing

@testable import Pipeline

@Suite("A small file does not come to more than memory holds, nor to what the library cannot take")
struct YAMLBoundsTests {
  private func problem(_ text: String) -> String? { YAMLBounds.problem(in: text) }

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
    "A list or mapping is no key, wherever it stands and however it is written",
    arguments: [
      "a: 1\n? period: P1Y\n", "a: 1\n? [b]\n: 1\n", "a: &a [b]\n*a : 1\n", "a: 1\n{b: 1}: 2\n",
      "a:\n  - {b: [{c: {[]: 1}}]}\n", "a: 1\n? {=: b}\n: 1\n", "a: 1\n? !!str [b]\n",
      "a: 1\n? !!map {}\n", "a:\n  !!set {{}}\n", "a:\n  !!omap [{[]: 1}]\n",
      "a: &a {b: 1}\n? *a\n",
      "a: &a {b: 1}\n<<: {*a : 1}\n", "a: 1\n<<: [{? []}]\n", "a: 1\n? - b\n",
      "a: 1\n--- {{}: 1}\n",
    ])
  func keys(_ text: String) throws {
    let reason = "a key must be a text, not a list or mapping; a `?` before it makes it a key"
    #expect(problem(text) == ": line 2: \(reason)")
    for read in [configurationProblem, decisionsProblem] {
      let error = try #require(read(Array(text.utf8)))
      #expect(error.message.contains(" a.yaml: line 2: "))
      #expect(error.hint.contains("every key as a plain text"))
    }
  }

  @Test("Keys that are no plain text for YAML are names like all others")
  func oddKeys() throws {
    for key in [
      "null", "~", "1.5", "2026-03-01", "true", "0x1F", "!!binary aGk=", "=", "'<<'", "''",
    ] {
      let error = try #require(
        configurationProblem(Array("products: {\(key): [a]}\n\(key): 1\n".utf8)))
      #expect(error.message.contains("unknown key"), "\(key): \(error)")
    }
    let merged = "a: &a {b: 1}\nproducts:\n  <<: [*a, *a]\n  <<: 5\n"
    #expect(configurationProblem(Array(merged.utf8)) != nil)
  }

  @Test("A value in base 60 or 8 is the text that was written, however long")
  func numbers() throws {
    let long = "1" + String(repeating: ":00", count: 40)
    let text = """
      products: {a: 0123, b: [1:30, \(long)], c: 9223372036854775807:59, d: 12, e: -1:30}
      """
    let products = try Configuration.read(Array(text.utf8), named: "a.yaml").products
    #expect(
      products == [
        "a": ["0123"], "b": ["1:30", long], "c": ["9223372036854775807:59"], "d": ["12"],
        "e": ["-1:30"],
      ])
    let error = try #require(configurationProblem(Array("jobs: 1:30\n".utf8)))
    #expect(error.message.contains("`jobs` must be a whole number"))
    #expect(configurationProblem(Array("jobs: !!int \(long)\n".utf8)) != nil)
    for tag in [
      "!!set {a}", "!!timestamp 2026-03-01", "!!binary aGk=", "!!float 1:30.5", "!!omap [a]",
    ] {
      #expect(configurationProblem(Array("jobs: \(tag)\n".utf8)) != nil)
    }
  }

  private func configurationProblem(_ bytes: [UInt8]) -> SubledgerError? {
    do throws(SubledgerError) {
      _ = try Configuration.read(bytes, named: "a.yaml")
      return nil
    } catch {
      return error
    }
  }

  private func decisionsProblem(_ bytes: [UInt8]) -> SubledgerError? {
    do throws(SubledgerError) {
      _ = try DecisionsFile(bytes, named: "a.yaml")
      return nil
    } catch {
      return error
    }
  }

  @Test("Both files are refused by the line and with what to do")
  func files() throws {
    let text = Array(laughs(30).utf8)
    let errors = [
      #expect(throws: SubledgerError.self) { try Configuration.read(text, named: "a.yaml") },
      #expect(throws: SubledgerError.self) { try DecisionsFile(text, named: "a.yaml") },
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

@Suite("The text of a file that a person wrote is UTF-8")
struct YAMLTextTests {
  private func text(_ bytes: [UInt8]) throws -> String {
    try yamlText(bytes, of: "the list a.yaml")
  }

  @Test("A byte order mark is no part of it")
  func byteOrderMark() throws {
    #expect(try text([0xef, 0xbb, 0xbf] + "a: größe\n".utf8) == "a: größe\n")
    #expect(try text([0xef, 0xbb, 0xbf]).isEmpty)
    #expect(
      try Configuration.read([0xef, 0xbb, 0xbf] + "out: r\n".utf8, named: "c").options.out == "r")
    let decision = "- {break_id: 00000000000000ab, decision: explained, reason: r, who: w}\n"
    #expect(try DecisionsFile([0xef, 0xbb, 0xbf] + decision.utf8, named: "d").decisions.count == 1)
  }

  @Test("Other bytes are refused, and named by their line")
  func otherBytes() throws {
    for damage in [[0x8d], [0xff, 0xfe], [0xc3], [0xed, 0xa0, 0x80]] as [[UInt8]] {
      let error = try #require(throws: SubledgerError.self) {
        try text("a: 1\n# ".utf8 + damage + "\nb: 1\n".utf8)
      }
      #expect(error.message == "cannot read the list a.yaml: line 2 has bytes that are no UTF-8")
    }
  }
}
