/// What the acts `erase` and `prune` wrote anew of that which runs had sealed.
///
/// Records of runs stay as they were. What they seal is held to the digest that the last act gave
/// it; an act that does not begin with the digest that stood changes nothing.
struct Rewritings {
  private struct Place: Hashable {
    let run: Int64
    let part: String
  }

  private var parts: [Place: [(old: RunPart, new: RunPart)]] = [:]
  private var documents: [String: String] = [:]
  private var acts: [Int64: String] = [:]

  init(_ acts: [AuditEntry]) {
    for act in acts where act.deed == .erase || act.deed == .prune {
      for line in act.content.split(separator: "\n") {
        if let rewriting = Rewriting(line: line) { add(rewriting) }
      }
    }
  }

  private mutating func add(_ rewriting: Rewriting) {
    switch rewriting {
    case .part(let run, let old, let new):
      parts[Place(run: run, part: old.name), default: []].append((old, new))
    case .document(let name, let old, let new):
      if digest(ofDocument: name) == old { documents[name] = new }
    case .act(let act, let old, let new):
      if acts[act] ?? old == old { acts[act] = new }
    }
  }

  /// What a part that `run` sealed is to be now.
  func now(_ sealed: RunPart, of run: Int64) -> RunPart {
    (parts[Place(run: run, part: sealed.name)] ?? [])
      .reduce(sealed) { $1.old == $0 ? $1.new : $0 }
  }

  /// The SHA-256 of what a document says now; it keeps the name that runs know.
  func digest(ofDocument name: String) -> String { documents[name] ?? name }

  /// The SHA-256 of what an act says now.
  func digest(ofAct act: AuditEntry) -> String { acts[act.id] ?? act.sha256 }
}

/// What is sealed, taken before and after something is written anew.
struct SealedParts {
  private let parts: [Int64: [RunPart]]

  /// Takes the digests of those of `tables` that runs sealed.
  init(of tables: Set<String>, in database: Connection) throws {
    let sealed = RunParts(database)
    var parts: [Int64: [RunPart]] = [:]
    let runs = try RunChain(database).published().map(\.number)
    for run in runs {
      parts[run] = try sealed.arrived(in: run, only: tables)
    }
    if let last = runs.last { parts[last, default: []] += try sealed.standing(only: tables) }
    self.parts = parts
  }

  /// Those that changed, by run.
  func rewritings(until after: SealedParts) -> [Rewriting] {
    parts.sorted { $0.key < $1.key }.flatMap { run, before in
      zip(before, after.parts[run] ?? []).filter { $0 != $1 }.map { old, new in
        .part(run: run, old: old, new: new)
      }
    }
  }
}
