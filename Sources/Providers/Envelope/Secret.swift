internal import Formats

/// A secret by which a provider's deliveries are known, kept as its SHA-256 alone.
///
/// Nothing that prints or dumps one shows more than that it is there.
public struct Secret: Sendable, CustomStringConvertible, CustomReflectable {
  /// The SHA-256 as hex digits.
  let digest: [UInt8]

  /// The secret that `bytes` are; spaces around them are not part of it, as in headers.
  ///
  /// - Returns: nil when nothing is left.
  public init?(_ bytes: [UInt8]) {
    let trimmed = bytes.withUnsafeBytes { Array($0.trimmed) }
    guard !trimmed.isEmpty else { return nil }
    digest = Array(sha256(of: trimmed).utf8)
  }

  /// The word `secret`.
  public var description: String { "secret" }

  /// Nothing to look into.
  public var customMirror: Mirror { Mirror(self, children: []) }

  /// Whether `text` is this secret.
  func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    isEqualAtEveryByte(Array(sha256(of: Array(text)).utf8), digest)
  }
}

/// Whether both hold the same bytes, found out in a time that does not tell where they differ:
/// every byte of both is looked at, once.
func isEqualAtEveryByte<Bytes: RandomAccessCollection>(
  _ left: Bytes, _ right: Bytes
) -> Bool where Bytes.Element == UInt8 {
  guard left.count == right.count else { return false }
  var difference: UInt8 = 0
  for (one, other) in zip(left, right) { difference |= one ^ other }
  return difference == 0
}

extension UnsafeRawBufferPointer {
  /// The bytes without white space around them.
  var trimmed: UnsafeRawBufferPointer {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
    guard let last = lastIndex(where: { !isSpace($0) }) else { return .none }
    return UnsafeRawBufferPointer(rebasing: self[...last].drop(while: isSpace))
  }
}
