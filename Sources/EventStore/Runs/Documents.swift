public import Domain

/// A file that affects the numbers of a run.
public struct Document: Sendable, Equatable {
  /// SHA-256 of the content that a run followed, 64 lower-case hexadecimal digits; its name.
  public var sha256: String
  /// SHA-256 of the current content: different when a person's id was removed from it.
  public var contentSHA256: String
  /// The content, compressed with gzip.
  public var body: [UInt8]

  /// Creates a document with the compressed content `body`.
  public init(sha256: String, body: [UInt8], contentSHA256: String? = nil) {
    self.sha256 = sha256
    self.contentSHA256 = contentSHA256 ?? sha256
    self.body = body
  }
}

/// The documents that a run follows; together with its options they suffice to reproduce it.
public struct RunDocuments: Sendable, Equatable {
  /// The configuration, without secrets and paths of the machine.
  public var configuration: Document?
  /// The price book, unchanged.
  public var prices: Document?
  /// The decisions about breaks, unchanged.
  public var decisions: Document?

  /// The checksums of the published set; nil before the publication.
  public var published: Document?

  /// Creates an empty set of documents.
  public init() {}
}

extension Ledger {
  /// Returns the documents of a run.
  public func documents(ofRun run: Int64) throws(SubledgerError) -> RunDocuments {
    try access("read the documents of a run") { database in
      let found = try database.first(
        "select configuration, prices, decisions, published from run where id = ?", run
      ) { row in (0..<4).map { row.isNull($0) ? nil : row.text($0) } }
      var documents = RunDocuments()
      guard let found else { return documents }
      let rewritings = Rewritings(try database.acts())
      documents.configuration = try document(found[0], rewritings, in: database)
      documents.prices = try document(found[1], rewritings, in: database)
      documents.decisions = try document(found[2], rewritings, in: database)
      documents.published = try document(found[3], rewritings, in: database, isNeeded: false)
      return documents
    }
  }

  private func document(
    _ sha256: String?, _ rewritings: Rewritings, in database: Connection, isNeeded: Bool = true
  ) throws -> Document? {
    guard let sha256 else { return nil }
    let body = try database.first("select body from document where sha256 = ?", sha256) {
      Array($0.blob(0))
    }
    guard let body else {
      if !isNeeded { return nil }
      throw SubledgerError.damagedLedger(
        "cannot read a document of the ledger \(path): it is missing")
    }
    return Document(
      sha256: sha256, body: body, contentSHA256: rewritings.digest(ofDocument: sha256))
  }
}

extension Ledger {
  /// Returns the last run that followed decisions with this SHA-256; nil when none did.
  public func lastRun(withDecisions sha256: String) throws(SubledgerError) -> Int64? {
    try first("look for a run", "select max(id) from run where decisions = ?", sha256) {
      $0.optionalInt64(0)
    } ?? nil
  }

  /// Calls `body` with every document, by SHA-256.
  public func forEachDocument(_ body: (Document) throws -> Void) throws {
    try visit("read the documents") { database in
      let rewritings = Rewritings(try database.acts())
      try database.forEachRow("select sha256, body from document order by sha256") { row in
        let name = row.text(0)
        try body(
          Document(
            sha256: name, body: Array(row.blob(1)),
            contentSHA256: rewritings.digest(ofDocument: name)))
      }
    }
  }
}

extension Document {
  func write(to database: Connection) throws {
    try database.run(
      "insert into document (sha256, body) values (?, ?) on conflict (sha256) do nothing", sha256,
      body)
  }
}

extension RunDocuments {
  /// Writes the documents of `run`, and removes documents that no run refers to any more.
  func write(to database: Connection, run: Int64) throws {
    for document in [configuration, prices, decisions] { try document?.write(to: database) }
    try database.run(
      "update run set configuration = ?2, prices = ?3, decisions = ?4 where id = ?1", run,
      configuration?.sha256, prices?.sha256, decisions?.sha256)
    try database.execute(
      """
      delete from document where not exists (
        select 1 from run
        where document.sha256 in (
          run.configuration, run.prices, run.decisions, run.published))
      """)
  }
}
