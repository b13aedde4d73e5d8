internal import Domain

/// Which of two versions of an event came last, and so counts.
struct VersionOrder {
  private let words: [String]
  private let original: Statement

  init(_ database: Connection, words: [String]) throws {
    self.words = words
    original = try database.statement("select original from lineage where key = ?")
  }

  /// By created, then received, then content; equal copies by the fingerprint of their body.
  func isLater(_ left: EventVersion, than right: EventVersion) throws -> Bool {
    let (one, other) = (Recency(of: left.event), Recency(of: right.event))
    if one.created != other.created { return one.created > other.created }
    if one.received != other.received { return one.received > other.received }
    let (ours, theirs) = (try content(of: left), try content(of: right))
    return ours == theirs ? one.body > other.body : theirs.lexicographicallyPrecedes(ours)
  }

  /// The version's content as text, because numbers of symbols depend on arrival.
  private func content(of version: EventVersion) throws -> [UInt8] {
    original.bind(1, version.event.lineage)
    let text = try original.first { $0.text(0) } ?? ""
    return version.event.canonicalContent(words: words, original: text)
  }
}
