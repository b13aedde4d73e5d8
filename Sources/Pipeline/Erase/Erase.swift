import EventStore
import Domain
import Yams

extension RunPipeline {
  /// Replaces a person's id in the ledger; returns what was found and what people must still do.
  ///
  /// `user` is the provider's id, or the app's own id, which several users may have. Counts do not
  /// change: a pseudonym replaces the id, also when the id arrives again. The change is one
  /// transaction; then the file is rewritten, so that its free space does not contain the id.
  /// Neither the answer nor the audit entry contains the id.
  public func erase(user: String, _ note: AuditNote) throws -> String {
    try check(note, erasing: user)
    return try onEvents(to: "erase the person") { ledger in
      // Before anything is written, because a reader of an older state keeps the id in the log.
      try ledger.emptyLog()
      let act = AuditEntry(.erase, note)
      let others = try ledger.users(ofCustomer: user).filter { $0 != user }
      var found: [Erasure] = []
      try ledger.together("erase the person") {
        for id in [user] + others {
          found += [try ledger.erase(id, as: act, decisions: redactedDecisions)].compactMap(\.self)
        }
      }
      guard !found.isEmpty else {
        throw SubledgerError(
          .noInput, "no events of this user in \(plan.ledger)",
          hint: "give the id as in the column user_id or customer_id of breaks.csv")
      }
      let summary = dryRunNotice + (found.map(answer) + [Self.leftToPeople]).joined(separator: "\n")
      do throws(SubledgerError) {
        try ledger.vacuum()
      } catch {
        throw SubledgerError(
          error.kind, "\(summary)\n  but free space may still hold the id: \(error.message)",
          hint: error.hint)
      }
      return summary
    }
  }

  /// Checks the texts of a person, without repeating the id.
  private func check(_ note: AuditNote, erasing user: String) throws {
    try note.requireReason(of: "erase", hint: "say who requested it, such as a ticket number")
    let redaction = Redaction(id: user, name: "")
    for text in [note.reason, note.who] where redaction.applied(to: text) != text {
      throw SubledgerError(
        .usage, "--reason or --who holds the id that is to be erased",
        hint: "the act is kept; write it without the id")
    }
  }

  private func answer(_ found: Erasure) -> String {
    var lines: [String] = []
    if !found.wasErased {
      lines.append(
        "\(found.pseudonym) replaces the person's id in "
          + "\(counted(found.lineages, "purchase")), "
          + "\(counted(found.versions, "event")), \(counted(found.snapshots, "snapshot")), "
          + counted(found.breaks, "break"))
    } else {
      let rest = found.isChanged ? "" : ", and nothing is left"
      lines.append("\(found.pseudonym): the person was erased before\(rest)")
    }
    if found.providerIDs > 0 {
      lines.append(
        "transaction ids of \(found.providerIDs) subscriptions and snapshots contain the id; "
          + "they stay")
    }
    if found.documents > 0 || found.decisions > 0 {
      lines.append(
        "decisions named the person: runs use them without the id; remove it from the decisions "
          + "file, or the next version of the file brings it back")
    }
    if found.archives > 0 {
      lines.append(
        "the names of \(counted(found.archives, "file")) held the id: rename the files, or the "
          + "next run brings it back")
    }
    if found.names > 0 {
      lines.append(
        "\(counted(found.names, "name")) of apps, products or events held the id: they stay, and "
          + "reports show them; to remove them, rebuild the ledger from corrected archives")
    }
    if found.settings > 0 {
      lines.append(
        "\(counted(found.settings, "file")) of settings (configuration, price book) held the "
          + "id: remove it from the file; the ledger keeps the versions that runs used")
    }
    return lines.joined(separator: "\n")
  }

  private static let leftToPeople =
    "not touched: archives, snapshot files, backups, packs and published sets. "
    + "`subledger report`, with the options of the nightly job, publishes a set without the id"
}

/// Returns the content of a decisions file without a person's id.
///
/// Nil when the text does not contain it. Comments are left out.
private func redactedDecisions(
  _ content: [UInt8], _ redaction: Redaction
) throws -> [UInt8]? {
  let name = "the decisions that runs followed"
  let decisions = try DecisionsFile(content, named: name).decisions
  let redacted = decisions.map { decision in
    Decision(
      breakID: decision.breakID, verdict: decision.verdict,
      reason: redaction.applied(to: decision.reason), who: redaction.applied(to: decision.who))
  }
  let text = String(decoding: content, as: UTF8.self)
  guard redacted != decisions || redaction.applied(to: text) != text else {
    return nil
  }
  func scalar(_ text: String) -> Node { Node(text, Tag(.str), .doubleQuoted) }
  let entries = redacted.map { decision in
    Node([
      (Node("break_id"), scalar(decision.breakID)),
      (Node("decision"), scalar(decision.verdict.rawValue)),
      (Node("reason"), scalar(decision.reason)), (Node("who"), scalar(decision.who)),
    ])
  }
  let written = Array(try Yams.serialize(node: Node(entries)).utf8)
  guard try DecisionsFile(written, named: name).decisions == redacted else {
    throw SubledgerError(.identity, "\(name) cannot be rewritten")
  }
  return written
}
