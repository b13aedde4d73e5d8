@testable import Formats
import Testing

private let cutOff = "the input ends inside a JSON value"

@Test(
  "What RFC 8259 allows is accepted",
  arguments: [
    "[]", "{}", "[ ]", "{ }", "\t[\r\n1 , 2 ]\n", "0", "-0", "-1", "10", "1.5", "0.0", "1e5",
    "1E+5", "1.5e-05", "-0.1e1", "1e999999", "\"\"", "\"\\u0000\"", "\"\u{7f}\"", "\"\u{2028}\"",
    "\"\u{10FFFF}\"", "[[[]]]", "{\"\":{\"\":[]}}", "{\"a\":1,\"a\":2}", "[null,true,false]",
    "\"\\uD834\\uDD1E\"", "{\"a\" : \"b\" , \"c\" : [ ] }",
  ])
func accepts(text: String) {
  #expect(problem(text) == nil)
  #expect(isAccepted(Array(text.utf8)))
}

@Test(
  "What RFC 8259 does not allow is refused, at the right byte",
  arguments: [
    ("[1,]", 3), ("[,1]", 1), ("[1 2]", 3), ("[1}", 2), ("{\"a\":1]", 6), ("{\"a\":1,}", 7),
    ("{a:1}", 1), ("{'a':1}", 1), ("{\"a\" 1}", 5), ("{\"a\":}", 5), ("{\"a\":1 \"b\":2}", 7),
    ("{,}", 1), ("[01]", 1), ("[-01]", 2), ("[+1]", 1), ("[.5]", 1), ("[1.]", 3), ("[1.e5]", 3),
    ("[1e]", 3), ("[1e+]", 4), ("[-]", 2), ("[- 1]", 2), ("[0x10]", 2), ("[1_000]", 2),
    ("[123L]", 4), ("[1.2.3]", 4), ("[NaN]", 1), ("[nan]", 2), ("[Infinity]", 1),
    ("[-Infinity]", 2), ("[True]", 1), ("[truE]", 4), ("[nulls]", 5), ("012", 0), ("123L", 3),
    ("truefalse", 4), ("\"\\x\"", 1), ("\"\\u12G4\"", 5), ("\"\\ud800\"", 1),
    ("\"\\ud800\\u0041\"", 1), ("\"\\udc00\"", 1), ("\"\\ud800x\"", 1), ("\"a\tb\"", 2),
    ("\"a\u{0}b\"", 2), ("\"a\nb\"", 2), ("\u{feff}[]", 0), ("/**/[]", 0), ("\u{b}1", 0),
    ("\u{a0}1", 0), ("}", 0), ("]", 0), (",", 0), (":", 0), ("\u{0}", 0), ("[\"a\":1]", 4),
  ])
func refuses(text: String, offset: Int) throws {
  let found = try #require(problem(text))
  #expect(found.offset == offset)
  #expect(found.reason != cutOff)
  #expect(!found.reason.isEmpty)
}

@Test(
  "Text that is not UTF-8 is refused",
  arguments: [
    [0x80], [0xbf], [0xc0, 0x80], [0xc1, 0xbf], [0xc2, 0x41], [0xe0, 0x9f, 0xbf],
    [0xed, 0xa0, 0x80], [0xed, 0xbf, 0xbf], [0xf0, 0x8f, 0xbf, 0xbf], [0xf4, 0x90, 0x80, 0x80],
    [0xf5, 0x80, 0x80, 0x80], [0xff], [0xe2, 0x82, 0x41], [0xf0, 0x9f, 0x98, 0x41],
  ] as [[UInt8]])
func refusesEncoding(bytes: [UInt8]) throws {
  for prefix in [[], Array("eight or more bytes".utf8)] as [[UInt8]] {
    let text = [0x22] + prefix + bytes + [0x22, 0x20, 0x20]
    let found = try #require(problem(text))
    #expect(found.reason == "a string is not valid UTF-8")
    #expect(found.offset == 1 + prefix.count)
  }
}

@Test("Every truncated value is recognized as truncated, and nothing else is")
func knowsTruncation() throws {
  let text = #"{"a":[1.5e+3,"\u00e9\ud83d\ude00 é",true,null,{"b":-0}],"c":"x"}"#
  let bytes = Array(text.utf8)
  for count in 0..<bytes.count {
    let found = try #require(problem(Array(bytes[..<count])))
    #expect(found.reason == cutOff)
    #expect(found.offset == count)
  }
  #expect(problem(bytes) == nil)
  #expect(problem(" \n")?.reason == cutOff)
}

@Test("Nesting is accepted up to the limit, and refused without a crash far above it")
func limitsDepth() {
  func nested(_ depth: Int) -> String {
    String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
  }
  #expect(problem(nested(64)) == nil)
  #expect(problem(nested(65))?.reason == "values are nested more than 64 deep")
  #expect(problem(nested(65))?.offset == 64)
  #expect(problem(String(repeating: "{\"a\":[", count: 500_000))?.reason != cutOff)
}

@Test("Numbers and values are counted against their limits")
func limitsNumbers() {
  let digits = String(repeating: "7", count: 4_096)
  #expect(problem("[\(digits)]") == nil)
  #expect(problem("[\(digits)7]")?.reason == "a number is longer than 4096 bytes")
  let list = "[" + Array(repeating: "1", count: 999).joined(separator: ",") + "]"
  #expect(problem(list, nodesMax: 1_000) == nil)
  #expect(
    problem(list, nodesMax: 999)?.reason
      == "a value holds more than 999 values")
}

@Test("A problem reports its position and never the text")
func describesProblem() {
  let found = problem("{\"secret\":\"top\u{1}secret\"}")
  #expect(found?.reason == "a string holds a raw control character")
  #expect(found?.offset == 14)
}
