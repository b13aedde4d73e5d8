/// Something that runs had sealed, or an earlier act, and that an act wrote anew: a line of the
/// act's content, with the digests before and after.
enum Rewriting: Equatable {
  /// Rows of a table that a run sealed.
  case part(run: Int64, old: RunPart, new: RunPart)
  /// A document, by the digest that runs know it by.
  case document(String, old: String, new: String)
  /// An act, by its number.
  case act(Int64, old: String, new: String)

  /// Reads what `line` has written; nil for a line that tells something else.
  init?(line: Substring) {
    let words = line.split(separator: " ").map(String.init)
    switch (words.first, words.count) {
    case ("part", 7):
      guard let run = Int64(words[1]), let before = Int64(words[3]), let after = Int64(words[5])
      else { return nil }
      self = .part(
        run: run, old: RunPart(name: words[2], rows: before, sha256: words[4]),
        new: RunPart(name: words[2], rows: after, sha256: words[6]))
    case ("document", 4):
      self = .document(words[1], old: words[2], new: words[3])
    case ("act", 4):
      guard let act = Int64(words[1]) else { return nil }
      self = .act(act, old: words[2], new: words[3])
    default:
      return nil
    }
  }

  /// The line that tells it.
  var line: String {
    switch self {
    case .part(let run, let old, let new):
      "part \(run) \(old.name) \(old.rows) \(old.sha256) \(new.rows) \(new.sha256)"
    case .document(let name, let old, let new): "document \(name) \(old) \(new)"
    case .act(let act, let old, let new): "act \(act) \(old) \(new)"
    }
  }
}
