/// Replaces a person's id in texts that people wrote.
public struct Redaction: Sendable {
  private let id: [UInt8]
  private let name: [UInt8]

  /// Puts `name` in the place of `id`, which is not empty.
  public init(id: String, name: String) {
    self.id = Array(id.utf8)
    self.name = Array(name.utf8)
  }

  /// Returns `text` with the name wherever the id stands as a word: a part of one could be the
  /// beginning of somebody else's.
  public func applied(to text: String) -> String {
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    var position = 0
    while position < bytes.count {
      let end = position + id.count
      if bytes[position...].starts(with: id), !isWord(position - 1, in: bytes),
        !isWord(end, in: bytes)
      {
        result += name
        position = end
      } else {
        result.append(bytes[position])
        position += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private func isWord(_ index: Int, in bytes: [UInt8]) -> Bool {
    guard bytes.indices.contains(index) else { return false }
    switch bytes[index] {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x80...0xff: return true
    default: return false
    }
  }
}
