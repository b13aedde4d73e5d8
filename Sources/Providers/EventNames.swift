import Formats

/// A provider's event names and their meaning, in any spelling: upper or lower case, with any
/// separators, British or American.
struct EventNames: Sendable {
  private let all: [(name: String, meaning: Meaning)]
  private let exact: KeyTable
  private let plain: KeyTable

  init(_ all: [(name: String, meaning: Meaning)]) {
    self.all = all
    exact = KeyTable(all.map(\.name))
    plain = KeyTable(
      all.map { entry in
        String(decoding: Array(entry.name.utf8).withUnsafeBytes(Self.plain), as: UTF8.self)
      })
  }

  /// The listed name that `name` spells, and its meaning; nil if there is none.
  func entry(of name: UnsafeRawBufferPointer) -> (name: String, meaning: Meaning)? {
    let index = exact.index(of: name) ?? Self.plain(name).withUnsafeBytes(plain.index(of:))
    return index.map { all[$0] }
  }

  private static func plain(_ name: UnsafeRawBufferPointer) -> [UInt8] {
    var plain = name.prefix(64).filter { !" _-.".utf8.contains($0) }.map(lowered)
    let british = Array("cancelled".utf8)
    if let start = plain.indices.first(where: { plain[$0...].starts(with: british) }) {
      plain.remove(at: start + 5)
    }
    return plain
  }
}
