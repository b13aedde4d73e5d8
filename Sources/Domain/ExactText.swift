/// A text that equals another only byte for byte.
///
/// To Swift, texts are equal that Unicode takes for the same, such as é in one scalar and in two.
/// Ids are what was told: of two that look alike, each is somebody's.
public struct ExactText: Hashable, Sendable {
  /// The text itself.
  public let text: String

  /// The text for what it is, byte for byte.
  public init(_ text: String) { self.text = text }

  /// Whether both have the same bytes.
  public static func == (left: ExactText, right: ExactText) -> Bool {
    left.text.isExactly(right.text)
  }

  /// Whether this comes before `other` in the order of bytes.
  public func precedes(_ other: ExactText) -> Bool {
    text.utf8.lexicographicallyPrecedes(other.text.utf8)
  }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension String {
  /// Whether both have the same bytes.
  public func isExactly(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
