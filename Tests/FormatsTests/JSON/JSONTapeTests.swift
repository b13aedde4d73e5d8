import Formats
import Testing

@Test("A value is parsed into the tree that was written")
func readsTree() throws {
  let text = #" {"a":1,"b":[true,{"c":"x"},[],{}],"d":null,"e":{"f":-2.5e3},"g":false} "#
  let tree = try withTape(text) { Tree($0) }
  #expect(
    tree
      == .object([
        "a": .number("1"),
        "b": .array([.bool(true), .object(["c": .string("x")]), .array([]), .object([:])]),
        "d": .null, "e": .object(["f": .number("-2.5e3")]), "g": .bool(false),
      ]))
}

@Test("Scalars can be whole values", arguments: ["1", "\"x\"", "true", "false", "null", "-0.0e-0"])
func readsScalar(text: String) throws {
  let span = try withTape("  " + text + "\n") { $0.span(0) }
  let isString = text.hasPrefix("\"")
  #expect(span == (isString ? 3..<4 : 2..<2 + text.utf8.count))
}

@Test("Members are found by name, and the last of a repeated key counts")
func findsMembers() throws {
  try withTape(#"{"a":1,"bc":"x","a":2,"\u0061b":3}"#) { tape in
    #expect(tape.count(0) == 4)
    #expect(tape.member(0, "a").map(tape.string) == "2")
    #expect(tape.member(0, "bc").map(tape.string) == "x")
    #expect(tape.member(0, "ab").map(tape.string) == "3")
    #expect(tape.member(0, "b") == nil)
    #expect(tape.member(1, "a") == nil)
  }
}

@Test("The children of a list are its elements, those of an object its keys, and others have none")
func walksChildren() throws {
  try withTape(#"[[1,[2,3],"x"],{"a":[4],"b":5},{},"text"]"#) { tape in
    let reported = tape.children(of: 0).map { tape.children(of: $0).map(tape.string) }
    #expect(reported == [["1", "[2,3]", "x"], ["a", "b"], [], []])
  }
}

@Test("Escapes are resolved, and text without any is a piece of the input")
func resolvesEscapes() throws {
  let text = #"["plain","\"\\\/\b\f\n\r\t","\u0041\u00e9\u20AC\uD83D\ude00z","é€😀","\u0000"]"#
  try withTape(text) { tape in
    #expect(
      Tree(tape)
        == .array([
          .string("plain"), .string("\"\\/\u{8}\u{c}\n\r\t"), .string("Aé€😀z"), .string("é€😀"),
          .string("\0"),
        ]))
    #expect(tape.span(1) == 2..<7)
  }
}

@Test("Glued values are read one after another")
func readsGluedValues() throws {
  let text = Array(#"{"a":1}{"a":[2]} [3]"#.utf8)
  try text.withUnsafeBytes { bytes in
    var tape = JSONTape()
    let first = try tape.read(bytes, from: 0)
    #expect(first == 7)
    let second = try tape.read(bytes, from: first)
    #expect(second == 16)
    #expect(tape.member(0, "a").map(tape.count) == 1)
    let third = try tape.read(bytes, from: second)
    #expect(third == text.count)
    #expect(tape.kind(0) == .array)
  }
}

@Test("A tape can be used again after a problem, and after a line with thousands of parts")
func isReused() throws {
  var tape = JSONTape()
  let long = "[" + (0..<50_000).map { "\"\\n\($0)\"" }.joined(separator: ",") + "]"
  for text in ["[1,", long, "[7]", "{\"a\":", long, "[8]"] {
    let bytes = Array(text.utf8)
    try bytes.withUnsafeBytes { buffer in
      if text.hasSuffix("]") {
        let end = try tape.read(buffer, from: 0)
        #expect(end == bytes.count)
        let last = JSONNode(tape.count(0))
        #expect(tape.next(last) == nil)
        #expect(
          tape.string(last) == (text == long ? "\n49999" : String(text.dropFirst().dropLast())))
      } else {
        #expect(throws: JSONProblem.self) { _ = try tape.read(buffer, from: 0) }
      }
    }
  }
}

@Test("Strings of every length end where their quote is", arguments: 0..<40)
func findsQuotes(length: Int) throws {
  for filler in ["a", "é", "\\\\"] {
    let body = String(repeating: filler, count: length)
    for padding in ["", "         "] {
      let text = "[\"\(body)\",1]\(padding)"
      let tree = try withTape(text) { Tree($0) }
      let expected = filler == "\\\\" ? String(repeating: "\\", count: length) : body
      #expect(tree == .array([.string(expected), .number("1")]))
    }
  }
}

@Test("One pass finds all wanted fields, and distinguishes absent from null")
func findsFields() throws {
  let keys = KeyTable(["a", "time", "absent", "a_name_of_more_than_sixteen_bytes", "é"])
  let text =
    #"{"time":1,"x":[{"a":9}],"a_name_of_more_than_sixteen_bytes":2,"a":3,"a":null,"\u00e9":4}"#
  try withTape(text) { tape in
    var slots: [JSONNode] = []
    tape.fields(of: 0, keys, into: &slots)
    #expect(slots.map { $0 < 0 ? "-" : tape.string($0) } == ["-", "1", "-", "2", "4"])
    #expect(slots[2] == -1 && tape.string(~slots[0]) == "null")
    tape.fields(of: slots[1], keys, into: &slots)
    #expect(slots == [-1, -1, -1, -1, -1])
  }
}

@Test("A lookup table separates its names from all others")
func containsNames() {
  let letters = Array("abcdefgh")
  let names = (0..<200).map { (number: Int) -> String in
    let stem: [Character] = (0...number % 30).map { letters[($0 * 7 + number) % 8] }
    return String(stem) + "\(number)"
  }
  let table = KeyTable(names)
  func position(_ name: String) -> Int? {
    Array(name.utf8).withUnsafeBytes { table.index(of: $0) }
  }
  for (index, name) in names.enumerated() {
    #expect(position(name) == index)
    #expect(position(name + "x") == nil)
    #expect(position("x" + name) == nil)
  }
  #expect(position("") == nil)
}

@Test("Long names that differ only in the middle are distinguished")
func containsLongNames() {
  let names = ["12345678_a_middle_87654321", "12345678_b_middle_87654321", ""]
  let table = KeyTable(names)
  let positions = (names + ["12345678_c_middle_87654321"]).map { name in
    Array(name.utf8).withUnsafeBytes { table.index(of: $0) }
  }
  #expect(positions == [0, 1, 2, nil])
}
