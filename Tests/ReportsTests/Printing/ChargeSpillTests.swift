import Domain
import TestSupport
import Testing

@testable import Reports

@Suite("Rows of the list of charges are merged from sorted parts on disk")
struct ChargeSpillTests {
  private let january = CivilCalendar.utc.month(of: Instant(milliseconds: 0))
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func part(_ rows: [(milliseconds: Int64, text: String)]) -> ChargePart {
    var part = ChargePart()
    for row in rows {
      let time = Instant(milliseconds: row.milliseconds)
      let start = part.startRow()
      part.lines.add(plain: row.text)
      part.endRow(from: start, time, CivilCalendar.utc.day(of: time))
    }
    part.sort()
    return part
  }

  private func texts(_ rows: ChargeRows?) throws -> [String] {
    var (rows, texts) = (rows, [String]())
    while try rows?.takeFirst({ row in
      texts.append(String(decoding: row, as: UTF8.self))
      return true
    }) == true {}
    return texts
  }

  @Test("A month's rows are sorted by time and then by cells, separate from other months")
  func order() throws {
    let day = Int64(86_400_000)
    var spill = try ChargeSpill(at: folder.path + "/spill")
    try spill.add(part([(2 * day, "b"), (day, "a"), (40 * day, "february")]))
    try spill.add(part([(2 * day, "a"), (0, "z"), (3 * day, "")]))
    #expect(try texts(spill.rows(of: january, in: .rfc4180)) == ["z", "a", "a", "b", ""])
    #expect(try texts(spill.rows(of: january.next, in: .rfc4180)) == ["february"])
    #expect(try spill.rows(of: january.next.next, in: .rfc4180) == nil)
  }

  @Test(
    "Rows are sorted by the texts of their cells, with or without quotes",
    arguments: [CSVDialect.rfc4180, .de])
  func quoted(dialect: CSVDialect) throws {
    let texts = ["", "A", "a", "a\"", "a\"b", "a,", "a,b", "a;", "a;b", "aa", "\"", "\"\"", ","]
    let cells = texts.flatMap { first in texts.map { [first, $0] } }
    let rows = cells.map { cells in
      var line = CSVLine(dialect)
      for cell in cells { line.add(text: cell) }
      return line.buffer
    }
    let separator = UInt8(ascii: dialect.separator)
    for (left, row) in zip(cells, rows) {
      for (right, other) in zip(cells, rows) {
        let isFirst = row.withUnsafeBytes { row in
          other.withUnsafeBytes { precedes(row, $0, separator) }
        }
        let isExpected = left.map(ExactText.init).lexicographicallyPrecedes(
          right.map(ExactText.init))
        #expect(isFirst == isExpected, "\(left) \(right)")
      }
    }
  }

  @Test("A row that was refused stays first")
  func waiting() throws {
    var spill = try ChargeSpill(at: folder.path + "/spill")
    try spill.add(part([(1, "a"), (2, "b")]))
    var rows = try #require(try spill.rows(of: january, in: .rfc4180))
    let isTaken = try rows.takeFirst { _ in false }
    #expect(!isTaken)
    #expect(try texts(rows) == ["a", "b"])
  }

  @Test("Parts larger than one read, and rows larger than one, are read completely")
  func pieces() throws {
    let large = String(repeating: "x", count: 300_000)
    var spill = try ChargeSpill(at: folder.path + "/spill")
    for part in 0..<3 {
      try spill.add(
        self.part(
          (0..<9_000).map { (Int64($0 * 3 + part), "\($0 * 3 + part) \(large.prefix(50))") }
            + [(50_000 + Int64(part), large)]))
    }
    let found = try texts(spill.rows(of: january, in: .rfc4180))
    #expect(found.count == 27_003)
    #expect(found.prefix(27_000).enumerated().allSatisfy { $1.hasPrefix("\($0) ") })
    #expect(found.suffix(3).allSatisfy { $0 == large })
  }
}
