import Decode
import Testing

@Test("An object's members are found by name")
func findsMembers() throws {
  let text = Array(#"{"a":1,"b":[true,{"c":"x\u0041"}],"a":2}"#.utf8)
  var tape = JSONTape()
  let end = try text.withUnsafeBytes { try tape.read($0, from: 0) }
  #expect(end == text.count)
  #expect(tape.count(0) == 3)
}
