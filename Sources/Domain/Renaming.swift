/// A person's id, and the name that takes its place in texts.
public struct Renaming: Sendable {
  private let id: [UInt8]
  private let name: [UInt8]
  /// Whether an id is told inside longer words, too: digits inside digits say nothing, and neither
  /// does a short word inside another.
  private let isTelling: Bool

  /// Puts `name` in the place of `id`, which is not empty.
  public init(id: String, name: String) {
    self.id = Array(id.utf8)
    self.name = Array(name.utf8)
    isTelling = self.id.count >= 8 && self.id.contains { !(0x30...0x39).contains($0) }
  }

  /// A text of something that the person has, such as its id, with the name wherever the person's
  /// id stands, also as a part of a word; nil when it stands nowhere.
  public func applied(toOwn text: UnsafeRawBufferPointer) -> [UInt8]? {
    applied(to: text, isOwn: true)
  }

  /// The same of a text; the text itself when the id stands nowhere in it.
  public func applied(toOwn text: String) -> String { applied(to: text, isOwn: true) }

  /// Any other text with the name wherever the id stands as a word: a part of one could be the
  /// beginning of somebody else's.
  public func applied(toOther text: String) -> String { applied(to: text, isOwn: false) }

  private func applied(to text: UnsafeRawBufferPointer, isOwn: Bool) -> [UInt8]? {
    guard text.count >= id.count else { return nil }
    var result: [UInt8] = []
    var kept = 0
    var position = 0
    while position + id.count <= text.count {
      guard text[position] == id[0], stands(at: position, in: text, isOwn && isTelling) else {
        position += 1
        continue
      }
      result += text[kept..<position]
      result += name
      position += id.count
      kept = position
    }
    return kept == 0 ? nil : result + text[kept...]
  }

  private func applied(to text: String, isOwn: Bool) -> String {
    var copy = text
    let result = copy.withUTF8 { applied(to: UnsafeRawBufferPointer($0), isOwn: isOwn) }
    return result.map { String(decoding: $0, as: UTF8.self) } ?? text
  }

  private func stands(
    at position: Int, in text: UnsafeRawBufferPointer, _ isPartOfWords: Bool
  ) -> Bool {
    for (offset, byte) in id.enumerated() where text[position + offset] != byte { return false }
    if isPartOfWords { return true }
    let end = position + id.count
    let isAfter = position > 0 && Self.isOfWord(text[position - 1])
    return !isAfter && !(end < text.count && Self.isOfWord(text[end]))
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x80...0xff: true
    default: false
    }
  }
}
