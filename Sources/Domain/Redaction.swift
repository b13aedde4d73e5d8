/// Replaces a person's ids in texts that people wrote.
public struct Redaction: Sendable {
  private let ids: [[UInt8]]
  private let name: [UInt8]

  /// Replaces `id` and `others` with `name`; ids must not be empty.
  public init(id: String, others: [String] = [], name: String) {
    ids = ([id] + others).map { Array($0.utf8) }.sorted { $0.count > $1.count }
    self.name = Array(name.utf8)
  }

  /// Returns `text` with `name` instead of each id that is a whole word: part of a word could be
  /// the beginning of another person's id.
  public func applied(to text: String) -> String {
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    var position = 0
    while position < bytes.count {
      let found = ids.first { id in
        bytes[position...].starts(with: id) && !isWord(position - 1, in: bytes)
          && !isWord(position + id.count, in: bytes)
      }
      if let found {
        result += name
        position += found.count
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
