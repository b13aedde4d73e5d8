internal import Formats
internal import Domain

/// All acts of a ledger as somebody else keeps them, held to their digests and to what runs sealed.
public struct KeptAuditEntries: Sendable {
  private let acts: [AuditEntry]
  private let rewritings: Rewritings

  /// The acts in their order.
  public init(_ acts: [AuditEntry]) {
    self.acts = acts
    rewritings = Rewritings(acts)
  }

  /// Whether an audit entry has its original content, or the content that a later entry gave it.
  public func isSound(_ act: AuditEntry) -> Bool {
    sha256(of: Array(act.text.utf8)) == rewritings.digest(ofAct: act)
  }

  /// Whether `run` sealed this digest and number for the acts after run `before`.
  public func areThose(after before: Int64, sealedBy run: Int64, as sealed: RunPart) -> Bool {
    RunPart(acts: acts.filter { $0.run == before }) == rewritings.now(sealed, of: run)
  }
}

extension RunPart {
  /// The digest that the run after `acts` seals, of the same columns that `RunParts` reads.
  init(acts: [AuditEntry]) {
    let digest = SHA256Digest()
    var writer = ByteWriter()
    func put(_ number: Int64?) {
      writer.put(byte: number == nil ? 0 : 1)
      if let number { writer.put(number) }
    }
    func put(_ text: String) {
      writer.put(byte: 2)
      writer.put(text)
    }
    for act in acts {
      put(act.id)
      put(act.run)
      put(act.deed.rawValue)
      put(act.zone)
      put(act.month.map { Int64($0.number) })
      for text in [act.reason, act.who, act.content, act.sha256] { put(text) }
    }
    writer.bytes.withUnsafeBytes { digest.update($0) }
    self.init(name: "act", rows: Int64(acts.count), sha256: digest.finish())
  }
}
