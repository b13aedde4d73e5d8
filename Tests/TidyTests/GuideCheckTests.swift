import Testing

@Suite("The checks of documents find what is missing")
struct GuideCheckTests {
  @Test("A target that uses one below it, or itself, is found")
  func floorPlan() throws {
    let manifest = """
      .systemLibrary(name: "CZ"),
      .target(
        name: "A", dependencies: ["CZ", "B", .product(name: "B", package: "b")]),
      .target(name: "B"),
      .executableTarget(name: "c", dependencies: ["A", "B", "Yams", "c"]),
      """
    let plan = try TargetOrder(manifest: manifest)
    #expect(plan.targets.map(\.name) == ["CZ", "A", "B", "c"])
    let found = plan.violations.map(\.description)
    #expect(
      found == [
        "Package.swift:2: A uses B, which does not stand above it",
        "Package.swift:5: c uses c, which does not stand above it",
      ])
  }

  @Test("A report without a section or a column without an entry is found")
  func reports() {
    let guide = ReportGuide(
      "## Shared\n\n- `period`: x\n\n## `a.csv` and `b/YYYY-MM.csv`\n\n- `charges`: of `net`\n")
    #expect(guide.violations(path: "reports/a.csv", header: "period,charges").isEmpty)
    let found = guide.violations(path: "reports/b/2026-10.csv", header: "\u{FEFF}period,net")
    #expect(found.map(\.problem) == ["docs/reports.md lacks the column `net`"])
    #expect(guide.violations(path: "reports/c.csv", header: "period").count == 1)
  }

  @Test("A table without an entry is found; an index needs none")
  func ledger() {
    let sql = """
      create table cell (
        day integer not null -- days
      ) strict;
      create table other (day integer) strict;
      create index cell_day on cell (day);
      """
    let guide = "# Ledger\n\n- `sum`, `cell`: x of `other`\n"
    let found = SchemaGuide.violations(path: "v1.sql", sql: sql, guide: guide)
    #expect(found.map(\.description) == ["v1.sql:4: docs/ledger.md lacks other"])
  }
}
