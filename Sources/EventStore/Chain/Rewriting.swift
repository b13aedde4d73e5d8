internal import Formats

/// A line of an audit entry: sealed content that it replaced, with both digests.
struct Rewriting: Equatable {
  /// Name of the content: `part:RUN:TABLE`, `document:NAME` or `act:NUMBER`.
  let subject: String
  let old: String
  let new: String

  var line: String { "rewritten \(subject) \(old) \(new)" }
}

extension Rewriting {
  /// Parses the words of such a line; nil for any other line.
  init?(_ words: [Substring]) {
    guard words.count == 4, words[0] == "rewritten" else { return nil }
    self.init(subject: String(words[1]), old: String(words[2]), new: String(words[3]))
  }
}

/// Sealed content that audit entries rewrote.
///
/// Records of runs never change. Sealed content must match the digest of the last entry; an entry
/// that does not start from the current digest changes nothing.
struct Rewritings {
  private var steps: [String: [Rewriting]] = [:]

  init(_ acts: [AuditEntry]) {
    for act in acts where act.action.rewrites {
      for step in act.facts.compactMap(Rewriting.init) {
        steps[step.subject, default: []].append(step)
      }
    }
  }

  /// Returns the expected current state of a part that `run` sealed.
  func now(_ sealed: RunPart, of run: Int64) -> RunPart {
    var part = sealed
    let words = digest(of: sealed.subject(of: run), sealedAs: sealed.digest).split(separator: ":")
    if words.count == 2, let rows = Int64(words[0]) {
      (part.rows, part.sha256) = (rows, String(words[1]))
    }
    return part
  }

  /// Returns the SHA-256 of a document's current content; its name stays that of the original.
  func digest(ofDocument name: String) -> String { digest(of: "document:\(name)", sealedAs: name) }

  /// Returns the SHA-256 of an audit entry's current content.
  func digest(ofAct act: AuditEntry) -> String { digest(of: "act:\(act.id)", sealedAs: act.sha256) }

  private func digest(of subject: String, sealedAs digest: String) -> String {
    (steps[subject] ?? []).reduce(digest) { $1.old == $0 ? $1.new : $0 }
  }
}

/// Digests of sealed content at one moment.
struct SealedParts {
  private let tables: Set<String>
  private let database: Connection
  private var digests: [(subject: String, digest: String)] = []

  /// Computes the digests of those of `tables` that are sealed.
  init(of tables: Set<String>, in database: Connection) throws {
    (self.tables, self.database) = (tables, database)
    let runs = try database.publishedRuns().map(\.number)
    for run in runs {
      var parts = try database.partsArrived(in: run, only: tables)
      if run == runs.last { parts += try database.standingParts(only: tables) }
      digests += parts.map { ($0.subject(of: run), $0.digest) }
    }
  }

  /// Returns the digests that have changed since that moment, by run.
  func rewritings() throws -> [Rewriting] {
    let now = try SealedParts(of: tables, in: database).digests
    return zip(digests, now).filter { $0.digest != $1.digest }.map {
      Rewriting(subject: $0.subject, old: $0.digest, new: $1.digest)
    }
  }
}

extension RunPart {
  func subject(of run: Int64) -> String { "part:\(run):\(name)" }

  var digest: String { "\(rows):\(sha256)" }
}

/// Audit entries from outside the ledger, to compare with the digests in run records.
public struct KeptAuditEntries: Sendable {
  private let acts: [AuditEntry]
  private let rewritings: Rewritings

  /// Creates a check of the entries, in their order.
  public init(_ acts: [AuditEntry]) {
    self.acts = acts
    rewritings = Rewritings(acts)
  }

  /// Whether an audit entry has its original content, or the content that a later entry gave it.
  public func isSound(_ act: AuditEntry) -> Bool {
    sha256(of: Array(act.text.utf8)) == rewritings.digest(ofAct: act)
  }

  /// Whether the entries after run `before` have the number and digest that the next run sealed.
  public func areThose(after before: Int64, rows: Int64, sha256: String) -> Bool {
    let known = acts.filter { $0.run == before }
    let sealed = RunPart(name: "act", rows: rows, sha256: sha256)
    return RunPart(acts: known) == sealed && known.allSatisfy(isSound)
  }
}

extension RunPart {
  /// Computes what the run after `acts` seals of them, as `Connection.seal` does from the table.
  init(acts: [AuditEntry]) {
    var writer = ByteWriter()
    for act in acts {
      writer.put(byte: 1)
      writer.put(act.id)
      writer.put(byte: 2)
      writer.put(act.sha256)
    }
    self.init(name: "act", rows: Int64(acts.count), sha256: Formats.sha256(of: writer.bytes))
  }
}
