public import Domain

/// A file that affects the numbers of a run.
public struct Document: Sendable, Equatable {
  /// SHA-256 of the content that a run followed, 64 lower-case hexadecimal digits; its name.
  public var sha256: String
  /// SHA-256 of the current content: different when a person's id was removed from it.
  public var contentSHA256: String
  /// The content, compressed with gzip.
  public var body: [UInt8]
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
      let rewritings = Rewritings(try database.acts())
      func document(_ column: String, isNeeded: Bool = true) throws -> Document? {
        let found = try database.first(
          """
          select sha256, body from run left join document on sha256 = \(column)
          where id = ? and \(column) is not null
          """, run
        ) { $0.isNull(0) ? nil : Document($0, rewritings) }
        // Nil if the run has no such document; with a nil inside if its content is missing.
        guard let found else { return nil }
        guard found != nil || !isNeeded else {
          throw SubledgerError.damagedLedger(
            "cannot read a document of the ledger \(path): it is missing")
        }
        return found
      }
      var documents = RunDocuments()
      documents.configuration = try document("configuration")
      documents.prices = try document("prices")
      documents.decisions = try document("decisions")
      documents.published = try document("published", isNeeded: false)
      return documents
    }
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
      try database.forEachRow("select sha256, body from document order by sha256") {
        try body(Document($0, rewritings))
      }
    }
  }
}

extension Document {
  /// Creates a document with the compressed content `body`.
  public init(sha256: String, body: [UInt8]) {
    self.init(sha256: sha256, contentSHA256: sha256, body: body)
  }

  /// Reads the first columns of a row: the name and the content.
  init(_ row: Statement, _ rewritings: Rewritings) {
    let name = row.text(0)
    self.init(
      sha256: name, contentSHA256: rewritings.digest(ofDocument: name), body: Array(row.blob(1)))
  }

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
