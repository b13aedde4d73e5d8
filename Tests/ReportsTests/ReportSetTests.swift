import Domain
@testable import Reports
import TestSupport
import Testing

@Suite("Reading a set from its CSV files")
struct ReportSetTests {
  private static let columns = [
    ReportColumn(
      name: "name", format: .typed("string"), unit: nil, description: "Text.", isKey: true),
    ReportColumn(
      name: "net_usd", format: .typed("number"), unit: "USD", description: "Money.",
      addition: .sum),
  ]

  /// Writes lines of texts and amounts, publishes the set, and opens it.
  private func published(
    _ rows: [(String, Int64?)], _ dialect: CSVDialect, in folder: TemporaryFolder
  ) throws -> ReportSet {
    let out = folder.path("out")
    let staging = try Staging.begin(for: out)
    let file = try CSVFile(path: "\(staging.path)/a.csv", dialect: dialect)
    var line = CSVLine(dialect)
    for column in Self.columns { line.add(plain: column.name) }
    try file.add(line)
    for (text, micros) in rows {
      line.removeAll()
      line.add(text: text)
      if let micros { line.add(micros: micros, decimals: 2) } else { line.addNothing() }
      try file.add(line)
    }
    _ = try file.finish()
    var manifest = Manifest(
      version: "1", asOf: Instant(milliseconds: 1_700_000_000_123), timeZone: "UTC")
    manifest.dialect = dialect
    manifest.qualifications = ["for a reason"]
    manifest.resources = [
      ReportTable(
        path: "a.csv", rows: Int64(rows.count), columns: Self.columns,
        controlTotals: ["net_usd": "1.00"])
    ]
    _ = try publish(try staging.sealed(by: manifest))
    return try ReportSet(publishedIn: out)
  }

  @Test("Each dialect gives the same texts and numbers", arguments: CSVDialect.allCases)
  func dialects(dialect: CSVDialect) throws {
    let folder = try TemporaryFolder()
    let texts = [
      "plain", "", "a,b;c", "say \"so\"", "\"", "\"\"", "=1+1", "007", "'007", "1e5", "a\u{1b}b",
    ]
    let amounts: [Int64?] = [
      0, nil, 1, -1, 1_500_000, -500_000, 123_456_789_012_345_678, .max, -.max, 990_000, 10,
    ]
    let set = try published(Array(zip(texts, amounts)), dialect, in: folder)
    #expect(set.manifest.asOf == Instant(milliseconds: 1_700_000_000_123))
    #expect(set.manifest.dialect == dialect)
    #expect(set.manifest.qualifications == ["for a reason"])
    let table = try #require(set.tables(of: "a").first)
    #expect(table.columns == Self.columns)
    #expect(table.controlTotals == ["net_usd": "1.00"])
    var read: [(text: String, micros: Int64?, amount: String)] = []
    try set.forEachRow(of: table) { read.append(($0[0], $0.micros(1), $0[1])) }
    #expect(read.map(\.text) == texts.map(cellText))
    #expect(read.map(\.micros) == amounts)
    #expect(read.map(\.amount) == amounts.map { $0.map { Amount(micros: $0).text() } ?? "" })
  }

  @Test(
    "A changed file is refused with the line",
    arguments: [
      ("name,net_usd\na,1.00\nb\n", 3), ("name,net_usd\na,1.00,\n", 2),
      ("name,gross_usd\na,1.00\n", 1), ("name,net_usd\na,1.0.0\n", 2),
      ("name,net_usd\na,--1.00\n", 2), ("name,net_usd\na,1e3\n", 2),
      ("name,net_usd\n\"a,1.00\n", 2), ("name,net_usd\n", 1), ("", 0),
    ])
  func changed(content: String, line: Int) throws {
    let folder = try TemporaryFolder()
    let set = try published([("a", 1_000_000)], .rfc4180, in: folder)
    try folder.write(content, to: "out/a.csv")
    let error = #expect(throws: SubledgerError.self) {
      try set.forEachRow(of: try #require(set.tables(of: "a").first)) { _ in }
    }
    #expect(error?.kind == .damagedInput)
    #expect(error?.message.contains("line \(line):") == true)
  }

  @Test("A folder without a set, and a foreign manifest, are reported")
  func noSet() throws {
    let folder = try TemporaryFolder()
    let missing = #expect(throws: SubledgerError.self) {
      try ReportSet(publishedIn: folder.path("no"))
    }
    #expect(missing?.kind == .noInput)
    try folder.write("{\"name\": \"others\"}", to: "datapackage.json")
    let foreign = #expect(throws: SubledgerError.self) {
      try ReportSet(publishedIn: folder.path)
    }
    #expect(foreign?.kind == .damagedInput)
  }

  @Test("The last months of a report are read, not its last files")
  func lastMonths() throws {
    let folder = try TemporaryFolder()
    var manifest = Manifest(version: "1", asOf: Instant(milliseconds: 0), timeZone: "UTC")
    for month in ["2025-04", "2025-05", "2025-07"] {
      let path = "days/\(month).csv"
      try folder.write("name,net_usd\n\(month)-01,1.00\n", to: path)
      manifest.resources.append(ReportTable(path: path, rows: 1, columns: Self.columns))
    }
    let set = ReportSet(in: folder.path, manifest)
    let cube = try Cube(CubeShape("days", by: ["name"], of: ["net_usd"], months: 3), of: set)
    #expect(cube.values(of: "name") == ["2025-05-01", "2025-07-01"])
  }

  @Test("The reports of a set are found by name, with months in order")
  func tables() {
    var manifest = Manifest(version: "1", asOf: Instant(milliseconds: 0), timeZone: "UTC")
    manifest.resources = ["b/2026-02.csv", "b.csv", "b/2026-01.csv", "bb.csv"].map {
      ReportTable(path: $0, rows: 0, columns: [])
    }
    let set = ReportSet(in: "", manifest)
    #expect(set.tables(of: "bb").map(\.path) == ["bb.csv"])
    #expect(set.tables(of: "b").map(\.path) == ["b.csv", "b/2026-01.csv", "b/2026-02.csv"])
  }
}
