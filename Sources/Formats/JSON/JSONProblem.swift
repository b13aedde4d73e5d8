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

/// Limits beyond which a JSON value is rejected: far more than any provider sends.
struct JSONLimits {
  /// Nesting depth of containers, including the outermost.
  var depthMax = 64
  /// Bytes in one number's text.
  var numberBytesMax = 4_096
  /// Values and object keys together; each takes 16 bytes of memory while its line is read.
  ///
  /// 256 are always allowed; more than 2²⁷ would not fit the fields for their numbers.
  var nodesMax = 2_097_152
}

/// Why bytes are not a JSON value; never contains any of the bytes.
public struct JSONProblem: Error, Sendable, Equatable, CustomStringConvertible {
  /// The offset of the first wrong byte, or the number of bytes when they end too early.
  public let offset: Int
  /// The defect, as a clause: "a string holds a raw control character".
  public let reason: String

  /// A problem at the byte `offset`.
  public init(offset: Int, reason: String) {
    self.offset = offset
    self.reason = reason
  }

  /// The defect and its position, for messages.
  public var description: String { "\(reason), at byte \(offset)" }
}

/// A problem in the form that the scanner's hot loop throws: small and without a String.
struct ScanFailure: Error {
  enum Cause: UInt8 {
    case truncated
    case valueExpected, keyExpected, colonExpected, memberEndExpected, elementEndExpected
    case controlCharacter, escape, loneSurrogate, encoding
    case leadingZero, digitExpected, numberEnd, literal
    case depth, numberBytes, nodes, escapedText
  }

  let offset: Int
  let cause: Cause

  func problem(_ limits: JSONLimits) -> JSONProblem {
    JSONProblem(offset: offset, reason: reason(limits))
  }

  private func reason(_ limits: JSONLimits) -> String {
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
    case .depth: "values are nested more than \(limits.depthMax) deep"
    case .numberBytes: "a number is longer than \(limits.numberBytesMax) bytes"
    case .nodes: "a value holds more than \(limits.nodesMax) values"
    case .escapedText: "a value holds more than \(TapeMemory.arenaMax) bytes of escaped text"
    }
  }
}
