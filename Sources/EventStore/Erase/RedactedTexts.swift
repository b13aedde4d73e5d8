internal import Formats
internal import Domain

/// Replaces a person's id in texts by people: decisions, audit entries, names of files.
struct RedactedTexts {
  let database: Connection
  let redaction: Redaction

  func writeActs() throws -> [Rewriting] {
    let before = try database.acts()
    let rewritings = Rewritings(before)
    let keys = Set(try rewrite("act", key: "id", ["reason", "who"]))
    return zip(before, try database.acts()).filter { keys.contains("\($0.0.id)") }.map {
      Rewriting(
        subject: "act:\($0.id)", old: rewritings.digest(ofAct: $0),
        new: sha256(of: Array($1.text.utf8)))
    }
  }

  /// Rewrites the decisions files that runs followed; their names do not change.
  func writeDocuments(_ redacted: ([UInt8]) throws -> [UInt8]?) throws -> [Rewriting] {
    let rewritings = Rewritings(try database.acts())
    let found = try database.all(
      """
      select sha256, body from document
      where sha256 in (select decisions from run) order by sha256
      """
    ) { ($0.text(0), Array($0.blob(1))) }
    var documents: [Rewriting] = []
    for (name, body) in found {
      let old = rewritings.digest(ofDocument: name)
      guard let content = gzipContent(of: body), sha256(of: content) == old
      else {
        throw SubledgerError(
          .damagedInput,
          "cannot erase the person: document \(name) was changed since it was written",
          hint: "`subledger verify` lists the damage; restore the ledger from a backup first")
      }
      guard let new = try redacted(content) else { continue }
      try database.run(
        "update document set body = ? where sha256 = ?", gzipMember(of: new, level: 2), name)
      documents.append(Rewriting(subject: "document:\(name)", old: old, new: sha256(of: new)))
    }
    return documents
  }

  /// Counts names of apps, products, events and the like that contain the id.
  func namesHoldingID() throws -> Int64 {
    Int64(
      try database.all("select value from string union select name from unknown_input") {
        holdsID($0.text(0))
      }.count { $0 })
  }

  /// Counts configurations and price books of runs that contain the id.
  func settingsHoldingID() throws -> Int64 {
    Int64(
      try database.all(
        """
        select body from document
        where sha256 in (select configuration from run union select prices from run)
        """
      ) { row in
        gzipContent(of: Array(row.blob(0))).map { holdsID(String(decoding: $0, as: UTF8.self)) }
          ?? false
      }.count { $0 })
  }

  private func holdsID(_ text: String) -> Bool { redaction.applied(to: text) != text }

  /// Rewrites two columns of a table; returns the keys of the rows that changed.
  func rewrite(_ table: String, key: String, _ columns: [String]) throws -> [String] {
    var found: [(key: String, texts: [String])] = []
    try database.forEachRow(
      "select \(key), \(columns.joined(separator: ", ")) from \(table) order by 1"
    ) { row in
      let before = (1...columns.count).map { row.text(Int32($0)) }
      let texts = before.map(redaction.applied)
      if texts != before { found.append((row.text(0), texts)) }
    }
    let assigned = columns.enumerated().map { "\($1) = \($1 == "name" ? Self.free : "?\($0 + 2)")" }
    let update = try Statement(
      database, "update \(table) set \(assigned.joined(separator: ", ")) where \(key) = ?1")
    for row in found { try update.run(row.key, row.texts[0], row.texts[1]) }
    return found.map(\.key)
  }

  /// The new name of an archive, with its number appended if another row of the same content has
  /// that name, because the file was read again after the person was erased.
  private static let free = """
    ?3 || iif(
      exists (
        select 1 from archive as other
        where other.sha256 = archive.sha256 and other.id <> archive.id and other.name = ?3),
      '.' || id, '')
    """
}
