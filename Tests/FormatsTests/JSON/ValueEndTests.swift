import Formats
import Testing

/// The pieces into which a search cuts a line that arrives `atOnce` bytes at a time.
private func pieces(_ text: String, atOnce: Int = .max) -> [String] {
  let bytes = Array(text.utf8)
  var found: [String] = []
  var start = 0
  var search = ValueEnd()
  var here = 0
  while here < bytes.count {
    let seen = Array(bytes[here..<min(bytes.count, here + min(atOnce, bytes.count))])
    let end = seen.withUnsafeBytes { search.find(in: $0, from: 0) }
    here += end ?? seen.count
    guard end != nil || here == bytes.count else { continue }
    found.append(String(decoding: bytes[start..<here], as: UTF8.self))
    (start, search) = (here, ValueEnd())
  }
  return found
}

@Test(
  "A value without a bracket ends at an object that cannot belong to it",
  arguments: [
    [#"{"a":{"b":1}}"#, #"{"c":"}{"}"#, "[1]", #"["x"]"#],
    ["xyz ", #"{"a":1}"#], ["\0\0\0", #"{"a":1}"#], ["] ", #"{"a":1}"#],
    ["2026-11-20T00:00:00Z ", #"{"a":1}"#], ["7 ", #"{"a":1}"#],
    [#""body":{"a":{"b":1},"c":[{"d":1},{"e":1}]}}"#], [#":{"a":1}}"#, #"{"b":1}"#],
    [#"n","a":{"b":"{"}}} "#, #"{"b":1}"#, #"{"c":{}}"#], [#""x" {"a":1}"#], [#", {"a":1}"#],
    [#""a}{\"}{\\" "#], [#""}{"}"#, #"{"a":1}"#],
    ["{bad}", "xyz", "{bad}"], [#"{"a":"x}{"b":1}"#], ["}\u{feff}", #"{"a":1}"#],
  ])
func cutsLines(expected: [String]) {
  let text = expected.joined()
  for atOnce in [1, 2, 3, 7, .max] { #expect(pieces(text, atOnce: atOnce) == expected) }
}
