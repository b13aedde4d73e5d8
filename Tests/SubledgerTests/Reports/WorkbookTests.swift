import Foundation
import TestSupport
import Testing

@Suite("--xlsx also publishes the set as a workbook")
struct WorkbookTests {
  private let program: Program

  init() throws {
    program = try Program()
    var odd = Body(2)
    odd.members["product_id"] = "\"007\""
    odd.members["app_id"] = "\"=1+1\""
    try program.folder.write("\(Body(1).line)\n\(odd.line)\n", to: "in/a.jsonl")
  }

  private func run(_ more: [String], asOf: String = "2026-04-01") throws -> ProgramResult {
    try program.run(["run", "--archives", "in", "--as-of", asOf] + more)
  }

  #if XLSX
    private func publish(_ more: [String], asOf: String = "2026-04-01") throws {
      try run(more, asOf: asOf).ended(0, 1)
    }

    private func workbook(in out: String = "reports") throws -> Data {
      try Data(contentsOf: URL(fileURLWithPath: program.folder.path("\(out)/report.xlsx")))
    }

    private func sheet(_ name: String) throws -> String {
      let book = try workbook()
      let names = try #require(try zipEntry("xl/workbook.xml", in: book)).matches(
        of: /<sheet name="([a-z_]+)"/
      ).map { String($0.1) }
      let number = try #require(names.firstIndex(of: name)) + 1
      return try #require(try zipEntry("xl/worksheets/sheet\(number).xml", in: book))
    }

    @Test("Each report is a sheet with typed cells, a frozen header and filters")
    func cells() throws {
      try publish(["--xlsx"])
      let sums = program.folder.path("reports/SHA256SUMS")
      #expect(try String(contentsOfFile: sums, encoding: .utf8).contains("  report.xlsx\n"))
      let revenue = try sheet("revenue_monthly")
      #expect(revenue.contains("state=\"frozen\""))
      #expect(revenue.contains("<autoFilter ref=\"A1:X3\"/>"))
      for text in ["007", "'=1+1", "com.example.pro.monthly"] {
        #expect(revenue.contains("t=\"inlineStr\"><is><t>\(text)</t>"), "\(text)")
      }
      for cell in ["<v>46054</v>", "<v>9.99</v>", "t=\"b\"><v>0</v>"] {
        #expect(revenue.contains(cell), "\(cell)")
      }
      let manifest = try sheet("manifest")
      for text in ["2026-04-01T00:00:00Z", "inputs", "Gross minus refunds."] {
        #expect(manifest.contains("<t>\(text)</t>"), "\(text)")
      }
      #expect(!revenue.contains("<f>"))
    }

    @Test("The workbook is the same in each dialect, and when an earlier run is reproduced")
    func same() throws {
      try publish(["--xlsx"])
      let first = try workbook()
      try publish(["--xlsx", "--csv-dialect", "excel-de", "--out", "german"])
      #expect(try workbook(in: "german") == first)
      try program.run(["report", "--at-run", "1", "--out", "again"]).ended(0)
      #expect(try workbook(in: "again") == first)
      try program.run(["verify", "--replay"]).ended(0)
      try program.run(["report", "--at-run", "1", "--xlsx", "--out", "again"]).ended(64)
    }

    @Test("A set without a workbook removes the previous one, and no other file")
    func removed() throws {
      try publish(["--xlsx"])
      try publish([])
      #expect(throws: (any Error).self) { try workbook() }
      try program.folder.write("my own\n", to: "reports/report.xlsx")
      try publish([], asOf: "2026-04-02")
      #expect(try workbook() == Data("my own\n".utf8))
    }

    @Test("After a person was erased, a reproduced workbook is reported to differ")
    func erased() throws {
      try publish(["--xlsx"])
      try #require(try program.run(["erase", "QON_1", "--reason", "request 7"]).status == 0)
      let again = try program.run(["report", "--at-run", "1", "--out", "again"])
      #expect(again.status == 0 && again.errors.contains("report.xlsx"), "\(again)")
    }
  #else
    @Test("A build without the library reports which package it needs")
    func withoutLibrary() throws {
      let result = try run(["--xlsx"])
      #expect(result.status == 78 && result.errors.contains("libxlsxwriter-dev"), "\(result)")
    }
  #endif
}
