@testable import Formats

/// Parses `bytes`, which must hold one value with only white space around it.
///
/// - Returns: the result of `body` for the tape.
func withTape<Result>(
  _ bytes: [UInt8], nodesMax: Int? = nil, _ body: (JSONTape) throws -> Result
) throws -> Result {
  try bytes.withUnsafeBytes { buffer in
    var tape = nodesMax.map(JSONTape.init) ?? JSONTape()
    let end = try tape.read(buffer, from: 0)
    if let wrong = buffer[end...].firstIndex(where: { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }) {
      throw TrailingText(offset: wrong)
    }
    return try body(tape)
  }
}

func withTape<Result>(
  _ text: String, nodesMax: Int? = nil, _ body: (JSONTape) throws -> Result
) throws -> Result {
  try withTape(Array(text.utf8), nodesMax: nodesMax, body)
}

struct TrailingText: Error {
  let offset: Int
}

func isAccepted(_ bytes: [UInt8]) -> Bool {
  do {
    try withTape(bytes) { _ in }
    return true
  } catch {
    return false
  }
}

/// The problem found in parsing `bytes`, if any.
func problem(_ bytes: [UInt8], nodesMax: Int? = nil) -> JSONProblem? {
  do {
    try withTape(bytes, nodesMax: nodesMax) { _ in }
    return nil
  } catch {
    return error as? JSONProblem
  }
}

func problem(_ text: String, nodesMax: Int? = nil) -> JSONProblem? {
  problem(Array(text.utf8), nodesMax: nodesMax)
}

/// A value of the tape as a tree, read only through the public API.
indirect enum Tree: Equatable {
  case object([String: Tree])
  case array([Tree])
  case string(String)
  case number(String)
  case bool(Bool)
  case null

  init(_ tape: JSONTape, _ node: JSONNode = 0) {
    switch tape.kind(node) {
    case .object:
      var members: [String: Tree] = [:]
      var key = tape.firstChild(node)
      while let name = key {
        members[tape.string(name)] = Tree(tape, tape.value(ofKey: name))
        key = tape.next(name)
      }
      self = .object(members)
    case .array:
      var elements: [Tree] = []
      var element = tape.firstChild(node)
      while let value = element {
        elements.append(Tree(tape, value))
        element = tape.next(value)
      }
      self = .array(elements)
    case .string: self = .string(tape.string(node))
    case .number: self = .number(tape.string(node))
    case .true: self = .bool(true)
    case .false: self = .bool(false)
    case .null: self = .null
    }
  }
}
