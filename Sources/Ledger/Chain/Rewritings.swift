internal import Digest
internal import GRDB

/// What acts wrote anew of that which runs had sealed: digests before and after, as the content of
/// `forget` and `prune` names them.
///
/// Records of runs stay as they were. What they seal is held to the digest that the last act gave
/// it; an act that does not begin with the digest that stood changes nothing.
struct Restatements {
  private struct Step {
    let old: RunPart
    let new: RunPart
  }

  private var parts: [String: [Step]] = [:]
  private var documents: [String: String] = [:]
  private var acts: [Int64: String] = [:]

  init(_ acts: [Act]) {
    for act in acts where act.deed == .forget || act.deed == .prune {
      for line in act.content.split(separator: "\n") {
        read(line.split(separator: " ").map(String.init))
      }
    }
  }

  private mutating func read(_ words: [String]) {
    switch (words.first, words.count) {
    case ("part", 7):
      guard let before = Int64(words[3]), let after = Int64(words[5]) else { return }
      let old = RunPart(name: words[2], rows: before, sha256: words[4])
      let new = RunPart(name: words[2], rows: after, sha256: words[6])
      parts["\(words[1]) \(words[2])", default: []].append(Step(old: old, new: new))
    case ("document", 4):
      if digest(ofDocument: words[1]) == words[2] { documents[words[1]] = words[3] }
    case ("act", 4):
      guard let act = Int64(words[1]) else { return }
      if acts[act] ?? words[2] == words[2] { acts[act] = words[3] }
    default: break
    }
  }

  /// What a part that `run` sealed is to be now.
  func now(_ sealed: RunPart, of run: Int64) -> RunPart {
    (parts["\(run) \(sealed.name)"] ?? []).reduce(sealed) { $1.old == $0 ? $1.new : $0 }
  }

  /// The SHA-256 of what a document says now; it keeps the name that runs know.
  func digest(ofDocument name: String) -> String { documents[name] ?? name }

  /// The SHA-256 of what an act says now.
  func digest(ofAct act: Act) -> String { acts[act.id] ?? act.sha256 }
}

/// What is sealed, taken before and after something is written anew.
struct SealedParts {
  private let parts: [Int64: [RunPart]]

  /// Takes the digests of those of `tables` that runs sealed.
  init(of tables: Set<String>, in database: Database) throws {
    let sealed = RunParts(database)
    var parts: [Int64: [RunPart]] = [:]
    let runs = try RunChain(database).published().map(\.number)
    for run in runs {
      parts[run] = try sealed.arrived(in: run, only: tables)
    }
    if let last = runs.last { parts[last, default: []] += try sealed.standing(only: tables) }
    self.parts = parts
  }

  /// A line for each that changed, for the content of an act.
  func lines(until after: SealedParts) -> [String] {
    parts.sorted { $0.key < $1.key }.flatMap { run, before in
      zip(before, after.parts[run] ?? []).filter { $0 != $1 }.map { old, new in
        "part \(run) \(old.name) \(old.rows) \(old.sha256) \(new.rows) \(new.sha256)"
      }
    }
  }
}
