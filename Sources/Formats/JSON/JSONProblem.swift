/// The kind of a JSON value.
public enum JSONKind: UInt8, Sendable {
  case object = 0
  case array = 1
  case string = 2
  case number = 3
  case `true` = 4
  case `false` = 5
  case null = 6
}

/// Why bytes are not a JSON value; never contains any of the bytes.
public struct JSONProblem: Error, Sendable, Equatable {
  /// The kind of defect, as small as the scanner's hot loop needs it.
  public enum Cause: Sendable, Equatable {
    case truncated
    case valueExpected, keyExpected, colonExpected, memberEndExpected, elementEndExpected
    case controlCharacter, escape, loneSurrogate, encoding
    case leadingZero, digitExpected, numberEnd, literal
    case depth, numberBytes, nodes(Int), escapedText
    /// Text follows a number, string or word that must be alone.
    case continued
  }

  /// The offset of the first wrong byte, or the number of bytes when they end too early.
  public let offset: Int
  private let cause: Cause

  /// A problem at the byte `offset`.
  public init(offset: Int, cause: Cause) {
    self.offset = offset
    self.cause = cause
  }

  /// Whether the bytes end inside the value.
  public var isCut: Bool { cause == .truncated }

  /// The defect, as a clause: "a string holds a raw control character".
  public var reason: String {
    switch cause {
    case .truncated: "the input ends inside a JSON value"
    case .valueExpected: "a JSON value is missing"
    case .keyExpected: "an object's key is missing or not in quotes"
    case .colonExpected: "a colon is missing behind an object's key"
    case .memberEndExpected: "a comma or closing brace is missing in an object"
    case .elementEndExpected: "a comma or closing bracket is missing in an array"
    case .controlCharacter: "a string holds a raw control character"
    case .escape: "a string holds an unknown escape"
    case .loneSurrogate: "a string holds half of a surrogate pair"
    case .encoding: "a string is not valid UTF-8"
    case .leadingZero: "a number begins with a superfluous zero"
    case .digitExpected: "a number lacks a digit"
    case .numberEnd: "a number or literal runs on into other text"
    case .literal: "a bare word is none of true, false and null"
    case .depth: "values are nested more than \(JSONTape.depthMax) deep"
    case .numberBytes: "a number is longer than \(JSONTape.numberBytesMax) bytes"
    case .nodes(let most): "a value holds more than \(most) values"
    case .escapedText: "a value holds more than \(TapeMemory.arenaMax) bytes of escaped text"
    case .continued: "a value other than an object continues"
    }
  }
}
