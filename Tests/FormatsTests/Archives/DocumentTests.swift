import TestSupport
import Testing

@testable import Formats

@Suite("JSON documents over several lines")
struct DocumentTests {
  /// The values of a document, one per line; each byte must keep its position.
  private func values(_ document: String) throws -> [String] {
    let bytes = Array(document.utf8)
    let reading = try Reading(gzip(bytes))
    #expect(reading.bytes.count == bytes.count && reading.oversized.isEmpty)
    for (read, byte) in zip(reading.bytes, bytes) where read != byte {
      #expect(read == 0x20 && "\n[],".utf8.contains(byte))
    }
    let marks: [UInt8] = [0x20, 0x0d, 0x1e, 0xef, 0xbb, 0xbf]
    return reading.bytes.split(separator: 0x0a).map { line in
      String(decoding: line.filter { !marks.contains($0) }, as: UTF8.self)
    }.filter { !$0.isEmpty }
  }

  @Test(
    "Indented values are read as one per line",
    arguments: [
      "{\n  \"a\": [\n    1,\n    {}\n  ]\n}\n{\n  \"b\": \"}\\\"{\"\n}\n",
      "[\n  {\n    \"a\": [\n      1,\n      {}\n    ]\n  },\n  {\n    \"b\": \"}\\\"{\"\n  }\n]\n",
      "\u{feff}\r\n{\r\n\"a\": [\r\n1,\r\n{}\r\n]\r\n}\r\n\u{1e}{\r\n\"b\": \"}\\\"{\"\r\n}",
      "[{\"a\":[1,{}]},\n {\"b\":\"}\\\"{\"}]", "[\n{\"a\":[1,{}]}\n,\n{\"b\":\"}\\\"{\"}\n]",
      "[ {\"a\":[1,{}]}\n, {\"b\":\"}\\\"{\"}\n]\n", "{\"a\":[1,{}]}\n\n{\n\"b\":\n\"}\\\"{\"\n}\n",
    ])
  func printed(document: String) throws {
    #expect(try values(document) == ["{\"a\":[1,{}]}", "{\"b\":\"}\\\"{\"}"])
  }

  @Test("A torn value does not affect a value that starts its own line")
  func torn() throws {
    let whole = "{\n  \"a\": 1\n}\n"
    let text = whole + "{\n  \"b\": \"x\n" + whole + "{\n  \"c\": 2\n" + whole
    let found = try values(text + "{\n  \"d\": [{}],\n" + whole)
    #expect(found.filter { $0 == "{\"a\":1}" }.count == 4 && found.count == 7)
  }

  @Test(
    "Lines are left unchanged",
    arguments: [
      "{\"a\":1}\n{\"b\":2,\n{\"c\":3}\n", "[{\"a\":1},{\"b\":2}]\n[{}]\n", "text {\n1\n}\n",
      "[]\n[1\n", "\n\n{}\n", "[INFO] {\"a\":1}\n",
    ])
  func ordinary(text: String) throws {
    #expect(try Reading(gzip(Array(text.utf8))).bytes == Array(text.utf8))
  }
}
