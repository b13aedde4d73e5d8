internal import Formats

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
  /// Computes what the run after `acts` seals of them, as `RunChain` does from the table.
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
