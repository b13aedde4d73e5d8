import Testing

@Suite("The sources follow the rules of CONTRIBUTING.md")
struct SourceTests {
  @Test("Sources contain no banned words", arguments: WordRule.all)
  func words(rule: WordRule) throws {
    for file in Repository.swiftFiles { expectNone(try rule.violations(in: file)) }
  }

  @Test("Modules are imported only in their folders", arguments: ImportRule.all)
  func imports(rule: ImportRule) throws {
    for file in Repository.swiftFiles { expectNone(try rule.violations(in: file)) }
  }

  @Test("No Swift file has more than 300 lines")
  func fileLengths() {
    for file in Repository.swiftFiles { expectNone(SizeRules.longFile(file)) }
  }

  @Test("No folder has more than 15 Swift files")
  func folderSizes() {
    expectNone(SizeRules.crowdedFolders(Repository.swiftFiles.map(\.path)))
  }

  @Test("No function has more than 60 lines")
  func functionLengths() throws {
    for file in Repository.swiftFiles { expectNone(try SizeRules.longFunctions(file)) }
  }

  @Test("No line has more than 100 columns")
  func lineLengths() {
    for file in Repository.swiftFiles { expectNone(SizeRules.longLines(file)) }
  }

  @Test("A file's name describes its content")
  func names() throws {
    for file in Repository.swiftFiles { expectNone(try SizeRules.emptyName(file.path)) }
  }

  @Test("A target uses only targets above it in Package.swift")
  func floorPlan() throws {
    let manifest = try #require(Repository.text(of: "Package.swift"), "Package.swift is missing")
    let plan = try TargetOrder(manifest: manifest)
    #expect(plan.targets.contains { $0.name == "Domain" }, "no targets were found to check")
    expectNone(plan.violations)
  }
}
