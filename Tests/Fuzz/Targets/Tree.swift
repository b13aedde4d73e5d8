import Formats

/// A JSON value as a tree.
indirect enum Tree: Equatable {
  case object([String: Tree])
  case array([Tree])
  case string(String)
  case number(String)
  case bool(Bool)
  case null
}

/// The value of `node`; nil if an object in it repeats a key, so that readers may differ.
///
/// Keys that are equal in Swift but not byte for byte count as repeated.
func tree(_ tape: JSONTape, _ node: JSONNode) -> Tree? {
  switch tape.kind(node) {
  case .object:
    var members: [String: Tree] = [:]
    var key = tape.firstChild(node)
    while let name = key {
      guard let value = tree(tape, tape.value(ofKey: name)),
        members.updateValue(value, forKey: tape.string(name)) == nil
      else { return nil }
      key = tape.next(name)
    }
    claim(members.count == tape.count(node), "the count of members is right")
    return .object(members)
  case .array:
    var elements: [Tree] = []
    var element = tape.firstChild(node)
    while let value = element {
      guard let inner = tree(tape, value) else { return nil }
      elements.append(inner)
      element = tape.next(value)
    }
    claim(elements.count == tape.count(node), "the count of elements is right")
    return .array(elements)
  case .string: return .string(tape.string(node))
  case .number: return .number(tape.string(node))
  case .true: return .bool(true)
  case .false: return .bool(false)
  case .null: return .null
  }
}

/// The same value in other notation: reversed members, more white space, every third character of a
/// string escaped.
func rewritten(_ tape: JSONTape, _ node: JSONNode) -> String {
  switch tape.kind(node) {
  case .object:
    var members: [String] = []
    var key = tape.firstChild(node)
    while let name = key {
      members.append(
        "\(quoted(tape.string(name))) :\t\(rewritten(tape, tape.value(ofKey: name)))")
      key = tape.next(name)
    }
    return "{ " + members.reversed().joined(separator: " ,") + "}"
  case .array:
    var elements: [String] = []
    var element = tape.firstChild(node)
    while let value = element {
      elements.append(rewritten(tape, value))
      element = tape.next(value)
    }
    return "[" + elements.joined(separator: ", ") + " ]"
  case .string: return quoted(tape.string(node))
  case .number, .true, .false, .null: return tape.string(node)
  }
}

/// `text` as a JSON string.
func quoted(_ text: String) -> String {
  var quoted = "\""
  for (index, scalar) in text.unicodeScalars.enumerated() {
    if index % 3 != 0, scalar.value >= 0x20, scalar != "\"", scalar != "\\" {
      quoted.unicodeScalars.append(scalar)
      continue
    }
    for unit in String(scalar).utf16 {
      let digits = String(unit, radix: 16)
      quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
  }
  return quoted + "\""
}
