import Foundation
import TestSupport
import Testing
import Domain

@testable import Reports

@Suite("CSV files")
struct CSVFileTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(
    "Text is quoted if necessary, and a spreadsheet never runs it",
    arguments: [
      ("plain", "plain"), ("", ""), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""),
      ("a\nb", "a\\u{a}b"), ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@x", "'@x"),
      ("\tx", "'\\u{9}x"), ("\rx", "'\\u{d}x"), ("\nx", "'\\u{a}x"),
      ("=\"a\"", "\"'=\"\"a\"\"\""), ("a=b", "a=b"), ("é", "é"), ("日本", "日本"),
      ("＝1", "'＝1"), ("＋1", "'＋1"), ("－1", "'－1"), ("＠x", "'＠x"), ("｜", "｜"),
      ("'=1", "''=1"), ("''=1", "'''=1"), ("'a", "'a"), ("'", "'"), ("'\tx", "''\\u{9}x"),
      ("a;=1", "a\\u{3b}=1"), ("a;b", "a;b"), ("a; b;", "a; b;"),
      ("a;\"=1\"", "\"a\\u{3b}\"\"=1\"\"\""), ("a\\b", "a\\b"), ("\\u{9}x", "\\u{5c}u{9}x"),
    ])
  func text(_ given: String, _ expected: String) throws {
    #expect(try written { $0.add(text: given) } == expected + "\n")
  }

  @Test(
    "Text that controls a terminal or reverses what is read is escaped",
    arguments: [
      ("\u{1b}[31mred", "\\u{1b}[31mred"), ("a\u{0}b\u{7f}", "a\\u{0}b\\u{7f}"),
      ("a\u{9b}31m\u{a0}", "a\\u{9b}31m\u{a0}"), ("a\u{202e}b", "a\\u{202e}b"),
      ("a\u{2067}b\u{2069}", "a\\u{2067}b\\u{2069}"), ("\u{feff}a", "\\u{feff}a"),
      ("a\u{2028}b", "a\\u{2028}b"), ("a\u{e0041}b", "a\\u{e0041}b"),
      ("👩\u{200d}🚀", "👩\\u{200d}🚀"), ("a\u{301}", "a\u{301}"),
    ])
  func invisible(_ given: String, _ expected: String) throws {
    #expect(try written { $0.add(text: given) } == expected + "\n")
  }

  @Test("An archive's name, escaped when listed, is not escaped again")
  func names() throws {
    #expect(try written { $0.add(name: "a\\u{a}b\\x{ff}.gz") } == "a\\u{a}b\\x{ff}.gz\n")
    #expect(try written { $0.add(name: "=1\u{1b}.gz") } == "'=1\\u{1b}.gz\n")
  }

  @Test("Different texts give different cells, and each cell can be converted back")
  func reversible() throws {
    let parts = [
      "'", "=", "\t", "\u{1b}", "\\", "u{1b}", "u{5c}", ";", "\"", "a", ",", "\u{202e}",
    ]
    var texts = [""]
    for _ in 0..<3 { texts += texts.flatMap { text in parts.map { text + $0 } } }
    var known: [String: String] = [:]
    for text in Set(texts) {
      let line = try written { $0.add(text: text) }
      #expect(known.updateValue(text, forKey: line) == nil, "\(line)")
      #expect(original(of: line) == text, "\(line)")
      let isShown = line.dropLast().unicodeScalars.allSatisfy { !$0.isInvisible }
      #expect(isShown, "\(line)")
    }
  }

  /// The text from which a line of one cell was printed, by the rules of docs/reports.md.
  private func original(of line: String) -> String {
    var cell = String(line.dropLast())
    if cell.hasPrefix("\"") {
      cell = String(cell.dropFirst().dropLast()).replacing("\"\"", with: "\"")
    }
    let text = cell.replacing(/\\u\{([0-9a-f]+)\}/) { match in
      String(UInt32(match.1, radix: 16).flatMap(Unicode.Scalar.init).map(Character.init) ?? "?")
    }
    let isGuarded = text.prefixMatch(of: /'+[=+\-@\t\r\n＝＋－＠]/) != nil
    return isGuarded ? String(text.dropFirst()) : text
  }

  @Test("A negative number is never treated as a formula")
  func negativeNumbers() throws {
    let line = try written {
      $0.add(-42)
      $0.add(micros: -9_990_000, decimals: 2)
    }
    #expect(line == "-42,-9.99\n")
  }

  @Test(
    "An amount in a cell is printed like any other amount",
    arguments: [
      0, 1, -1, 10, 100_000, 1_000_000, -1_234_567, 9_990_000, 123_456_789_012,
      Int64.max, Int64.min + 1,
    ] as [Int64])
  func amounts(_ micros: Int64) throws {
    for decimals in [0, 2, 6] {
      #expect(
        try written { $0.add(micros: micros, decimals: decimals) }
          == Amount(micros: micros).text(decimalsMin: decimals) + "\n")
    }
  }

  @Test("Whole numbers are printed with all digits", arguments: [0, 7, -10, Int64.max, Int64.min])
  func numbers(_ number: Int64) throws {
    #expect(try written { $0.add(number) } == "\(number)\n")
  }

  @Test("Empty cells keep their place")
  func emptyCells() throws {
    let line = try written {
      $0.addNothing()
      $0.add(1)
      $0.addNothing()
    }
    #expect(line == ",1,\n")
  }

  @Test("The spreadsheet dialect has a byte order mark and CRLF")
  func excel() throws {
    #expect(try written(.excel) { $0.add(1) } == "\u{feff}1\r\n")
  }

  @Test(
    "In the spreadsheet dialect, a text that would change as a number is marked as text",
    arguments: [
      ("2000000000040011", true), ("4936961123826e12", true), ("007", true), ("1-2", true),
      ("10:30", true), (".5", true), ("'007", true), ("''12e5", true), ("12345678901", false),
      ("0", false), ("GPA.3300-1", false), ("e12", false), ("'a", false), ("", false),
      ("'-1", false), (".", false),
    ])
  func ids(_ text: String, isMarked: Bool) throws {
    let line = try written(.excel) {
      $0.add(printed: text)
      $0.add(2_000_000_000_040_011)
    }
    #expect(line == "\u{feff}\(isMarked ? "'" : "")\(text),2000000000040011\r\n")
  }

  @Test("A numeric id is marked as text if a spreadsheet would cut its digits")
  func numbersOfIDs() throws {
    #expect(try written(.excel) { $0.add(id: 2_000_000_000_040_011) }.contains("'2000000000040011"))
    #expect(try written { $0.add(id: 2_000_000_000_040_011) } == "2000000000040011\n")
  }

  @Test("With a decimal comma, cells are separated by semicolons")
  func decimalComma() throws {
    let line = try written(.de) {
      $0.add(text: "x,y; \"z\"")
      $0.add(micros: -1_500_000, decimals: 2)
      $0.add(text: "p.q")
      $0.add(numeral: "0.250000")
      $0.addNothing()
    }
    #expect(line == "\u{feff}\"x,y; \"\"z\"\"\";-1,50;p.q;0,250000;\r\n")
  }

  @Test("A file larger than the buffer is complete")
  func longFile() throws {
    let path = folder.path("long.csv")
    let file = try CSVFile(path: path, dialect: .rfc4180)
    for number in 0..<20_000 {
      var line = CSVLine()
      line.add(Int64(number))
      try file.add(line)
    }
    _ = try file.finish()
    let expected = (0..<20_000).map { "\($0)\n" }.joined()
    #expect(try String(contentsOfFile: path, encoding: .utf8) == expected)
  }

  @Test("A missing folder is an error that names the file")
  func missingFolder() throws {
    let path = folder.path("missing/a.csv")
    let error = #expect(throws: SubledgerError.self) { try CSVFile(path: path, dialect: .rfc4180) }
    #expect(error?.description.contains(path) == true)
  }

  private func written(
    _ dialect: CSVDialect = .rfc4180, _ body: (inout CSVLine) -> Void
  ) throws -> String {
    let path = folder.path("a.csv")
    let file = try CSVFile(path: path, dialect: dialect)
    var line = CSVLine(dialect)
    body(&line)
    try file.add(line)
    _ = try file.finish()
    return String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
  }
}
