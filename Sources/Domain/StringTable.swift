internal import Glibc

/// Strings and the small numbers that represent them; 0 is the empty string.
public struct StringTable: Sendable {
  /// The strings, indexed by number.
  public private(set) var words: [String] = [""]
  /// The numbers by fingerprint.
  private var numbers: [Int64: StringID] = [:]

  /// A table with only the empty string.
  public init() {}

  /// The number of the string with these bytes, added if new.
  public mutating func symbol(_ bytes: UnsafeRawBufferPointer) -> StringID {
    if bytes.isEmpty { return 0 }
    let fingerprint = Fingerprint.of(bytes)
    if let known = numbers[fingerprint] { return known }
    let symbol = StringID(words.count)
    words.append(String(decoding: bytes, as: UTF8.self))
    numbers[fingerprint] = symbol
    return symbol
  }

  /// The number of `word`, added if new.
  public mutating func symbol(_ word: String) -> StringID {
    word.withBytes { symbol($0) }
  }

  /// The number of `word`; nil if the table does not contain it.
  public func find(_ word: String) -> StringID? {
    if word.isEmpty { return 0 }
    return numbers[Fingerprint.of(word)]
  }
}

/// A text that equals another only if their bytes are equal.
///
/// Swift treats canonically equivalent texts as equal, such as é in one scalar and in two. Ids are
/// kept as received: two that look alike belong to two users.
public struct ExactText: Hashable, Comparable, Sendable {
  /// The text itself.
  public let text: String

  /// A text compared by its bytes.
  public init(_ text: String) { self.text = text }

  /// Whether both have the same bytes.
  public static func == (left: ExactText, right: ExactText) -> Bool {
    left.text.isExactly(right.text)
  }

  /// Orders by bytes.
  public static func < (left: ExactText, right: ExactText) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) {
    text.withBytes { hasher.combine(bytes: $0) }
  }
}

extension String {
  /// Whether both have the same bytes.
  public func isExactly(_ other: String) -> Bool {
    other.withBytes { isExactly($0) }
  }

  /// Whether its UTF-8 equals `bytes`.
  public func isExactly(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard utf8.count == bytes.count else { return false }
    return utf8.withContiguousStorageIfAvailable {
      bytes.isEqual(to: UnsafeRawBufferPointer($0))
    } ?? utf8.elementsEqual(bytes)
  }

  /// Calls `body` with its UTF-8.
  @inline(__always)
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    var text = self
    return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether both have the same bytes; the standard library's `elementsEqual` uses slower
  /// iterators.
  public func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let here = baseAddress, let there = other.baseAddress else { return true }
    return memcmp(here, there, count) == 0
  }
}
