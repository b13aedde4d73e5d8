import Testing

@Suite("The checks find what they should")
struct CheckTests {
  @Test("A rule finds its example", arguments: WordRule.all)
  func examples(rule: WordRule) throws {
    let path =
      rule.within.contains("")
      ? "Sources/Formats/Archives/Example.swift" : rule.within[0] + "X.swift"
    let found = try rule.violations(in: SourceFile(path: path, text: "\n\(rule.example)\n"))
    #expect(found.first?.line == 2)
    #expect(found.first?.description.hasPrefix("\(path):2: `") == true)
  }

  @Test("A rule ignores comments, strings and its excepted paths")
  func exceptions() throws {
    let clock = try #require(WordRule.all.first { $0.example.contains("Date()") })
    let text =
      "// Date()\nlet a = \"Date()\"\nlet b = #\"Date()\"#\nlet c = \"\"\"\n  Date()\n  \"\"\"\n"
    #expect(try clock.violations(in: SourceFile(path: "Sources/A/A.swift", text: text)).isEmpty)
    let code = SourceFile(path: "Sources/subledger/A.swift", text: "Date()")
    #expect(try clock.violations(in: code).isEmpty)
  }

  @Test(
    "Every clock is found",
    arguments: [
      "Date()", "Date.now", "Date(timeIntervalSinceNow: 1)", "time(nil)", "gettimeofday(&now, nil)",
      "clock_gettime(CLOCK_REALTIME, &now)", "ContinuousClock().now", "SuspendingClock.now",
      "DispatchTime.now()", "DispatchWallTime.now()",
    ])
  func clocks(text: String) throws {
    let clock = try #require(WordRule.all.first { $0.example.contains("Date()") })
    let file = SourceFile(path: "Sources/A/A.swift", text: text)
    #expect(try clock.violations(in: file).count == 1)
  }

  @Test("Interpolated code is code, and the rest is a string again")
  func interpolation() {
    let file = SourceFile(path: "A.swift", text: #"f("a \(g("b", (h))) c") // d "e""#)
    let expected = "f(" + "     " + "g(" + "   " + ", (h))" + "    " + ")" + "         "
    #expect(file.code == expected)
    #expect(file.comments.hasSuffix(#"// d "e""#))
  }

  @Test("Words that only resemble a banned one are allowed")
  func lookAlikes() throws {
    let text = """
      let open = try Ledger.open(path: path)
      internal import Foundation
      let tasks = Tasks(count: 2)
      fingerprint(bytes)
      log.print(bytes)
      """
    let file = SourceFile(path: "Sources/Formats/Archives/A.swift", text: text)
    for rule in WordRule.all { #expect(try rule.violations(in: file).isEmpty) }
  }

  @Test("An import outside its folders is refused, whatever precedes `import`")
  func imports() throws {
    let rule = ImportRule(module: "CZlib", only: ["Formats/Archives/"])
    let text = "@testable internal import CZlib\nimport CZlibrary\n// import CZlib\n"
    #expect(
      try rule.violations(in: SourceFile(path: "Sources/Formats/Archives/A.swift", text: text))
        .isEmpty)
    let found = try rule.violations(in: SourceFile(path: "Sources/Report/A.swift", text: text))
    #expect(found.map(\.line) == [1])
  }

  @Test("A file of 301 lines, a line of 101 columns and a function of 61 lines are too long")
  func sizes() throws {
    let body = String(repeating: "    x()\n", count: 59)
    let function = "struct A {\n  init(\n    b: B = { C() }()) {\n\(body)  }\n}\n"
    let file = SourceFile(path: "A.swift", text: function)
    #expect(try SizeRules.longFunctions(file).map(\.line) == [2])
    let shorter = function.replacing("    x()\n", with: "", maxReplacements: 1)
    #expect(
      try SizeRules.longFunctions(SourceFile(path: "A.swift", text: shorter)).map(\.line) == [2])
    let allowed = function.replacing("    x()\n", with: "", maxReplacements: 2)
    #expect(try SizeRules.longFunctions(SourceFile(path: "A.swift", text: allowed)).isEmpty)
    let lines = SourceFile(path: "A.swift", text: String(repeating: "\n", count: 301))
    #expect(SizeRules.longFile(lines).count == 1)
    let wide = SourceFile(path: "A.swift", text: "\n" + String(repeating: "é", count: 101))
    #expect(SizeRules.longLines(wide).map(\.line) == [2])
  }

  @Test("A declaration without a body has no length")
  func requirements() throws {
    let members = String(repeating: "  func a() -> Int\n", count: 70)
    let text = "protocol A {\n\(members)}\nstruct B {\n  var b: Int { 1 }\n}\n"
    #expect(try SizeRules.longFunctions(SourceFile(path: "A.swift", text: text)).isEmpty)
  }

  @Test("A folder with too many files is refused, one without is not")
  func folders() {
    let paths =
      (1...16).map { "Sources/A/\($0).swift" }
      + (1...15).map { "Sources/A/B/\($0).swift" }
    #expect(SizeRules.crowdedFolders(paths).map(\.path) == ["Sources/A"])
  }

  @Test(
    "A meaningless name is refused",
    arguments: [
      "Sources/A/Utils.swift", "Sources/A/DateHelpers.swift", "Sources/Common/Day.swift",
      "Sources/A/LedgerManager.swift", "Sources/A/Extensions/Day.swift",
    ])
  func names(path: String) throws {
    #expect(try SizeRules.emptyName(path).count == 1)
  }

  @Test("A meaningful name is allowed", arguments: ["Sources/A/CommonWords.swift"])
  func goodNames(path: String) throws {
    #expect(try SizeRules.emptyName(path).isEmpty)
  }
}
