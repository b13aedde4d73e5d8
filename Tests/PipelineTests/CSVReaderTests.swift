import Testing

@testable import Pipeline

@Suite("CSV is read as RFC 4180 defines it")
struct CSVReaderTests {
  private func records(_ text: String) throws -> [[String]] {
    var reader = CSVReader(Array(text.utf8))
    var records: [[String]] = []
    while let record = try reader.next() { records.append(record.fields) }
    return records
  }

  private func problem(_ bytes: [UInt8]) throws -> CSVProblem {
    try #require(throws: CSVProblem.self) {
      var reader = CSVReader(bytes)
      while try reader.next() != nil {}
    }
  }

  @Test("Quotes keep commas, line ends and doubled quotes in one field")
  func quotes() throws {
    #expect(
      try records("a,\"b,\"\"c\"\"\",\"d\ne\"\nf,,\"\"") == [
        ["a", "b,\"c\"", "d\ne"], ["f", "", ""],
      ])
  }

  @Test("A byte order mark, CRLF, empty lines and a missing last line end change nothing")
  func dialects() throws {
    let plain = try records("a,b\n1,2\n")
    #expect(plain == [["a", "b"], ["1", "2"]])
    #expect(try records("\u{FEFF}a,b\r\n1,2\r\n") == plain)
    #expect(try records("\na,b\n\r\n\n1,2") == plain)
    #expect(try records("") == [])
  }

  @Test("A record reports the line on which it begins, counting line ends inside quotes")
  func lines() throws {
    var reader = CSVReader(Array("\n\"a\nb\"\n\nc".utf8))
    #expect(try reader.next() == CSVRecord(line: 2, fields: ["a\nb"]))
    #expect(try reader.next() == CSVRecord(line: 5, fields: ["c"]))
  }

  @Test(
    "CSV that RFC 4180 does not allow is an error with its position",
    arguments: [
      ("a\nb,c\"d", 2, 2), ("\"a\"b", 1, 1), ("a,\"b\nc", 1, 2), ("a\rb", 1, 1),
      ("a,b\n\"x\ny\",\"z\" ,", 3, 2),
    ])
  func damage(text: String, line: Int, column: Int) throws {
    let problem = try problem(Array(text.utf8))
    #expect(problem.line == line && problem.column == column && !problem.reason.isEmpty)
  }

  @Test("Bytes that are not UTF-8 are an error")
  func encoding() throws {
    #expect(try problem([0x61, 0x2c, 0xff]).reason.contains("UTF-8"))
    #expect(try problem([0x22, 0xc3, 0x22]).column == 1)
  }
}
