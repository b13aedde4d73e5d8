internal import Formats
public import Domain

/// What was taken out of the ledger with a person's id.
public struct Erasure: Sendable, Equatable {
  /// What stands in the id's place.
  public var pseudonym: String
  /// Whether the ledger had erased the person before.
  public var wasErased = false
  /// Lineages with events of the person.
  public var lineages: Int64 = 0
  /// Versions of these events.
  public var versions: Int64 = 0
  /// Snapshots of the person.
  public var snapshots: Int64 = 0
  /// Episodes of breaks.
  public var breaks: Int64 = 0
  /// Files whose names held the id.
  public var archives: Int64 = 0
  /// Documents that named the person, or a break that has another id now.
  public var documents: Int64 = 0
  /// Decisions of the newest run that did.
  public var decisions: Int64 = 0
  /// Acts whose words named the person.
  public var acts: Int64 = 0
  /// New ids of breaks by old ones, where the id was made of the person's.
  public var breakIDs: [String: String] = [:]
  /// Breaks that begin another life, because nothing tells which id they have now.
  public var lostBreaks: Int64 = 0

  init(_ pseudonym: String) { self.pseudonym = pseudonym }

  /// Whether anything was changed.
  public var isChanged: Bool { self != Erasure(pseudonym, wasErased: wasErased) }

  private init(_ pseudonym: String, wasErased: Bool) {
    self.pseudonym = pseudonym
    self.wasErased = wasErased
  }

  /// For the act, a fact a line.
  var lines: [String] {
    [
      "pseudonym \(pseudonym)", "lineages \(lineages)", "versions \(versions)",
      "snapshots \(snapshots)", "breaks \(breaks)", "archives \(archives)",
    ]
  }
}

/// What only other rooms know of what a person's id stands in.
public struct ErasureNames {
  /// The id of a break whose words have changed, given how it was before and what of the person it
  /// may be about; nil when nothing tells it.
  public typealias BreakID = (_ former: Break, _ now: Break, _ clues: BreakClues) -> String?
  /// Decisions without the id, and with the new ids of breaks by old ones; nil when nothing of it
  /// is in them.
  public typealias Decisions = (
    _ content: [UInt8], _ renaming: Renaming, _ breakIDs: [String: String]
  ) throws -> [UInt8]?

  let breakID: BreakID
  let decisions: Decisions

  /// The two functions.
  public init(breakID: @escaping BreakID, decisions: @escaping Decisions) {
    self.breakID = breakID
    self.decisions = decisions
  }
}

extension Ledger {
  /// Puts a pseudonym in the place of a person's id wherever the ledger holds it, and records the
  /// act, whole or not at all; `vacuum` then removes what is left of it in free space.
  ///
  /// Nil when the ledger knows no such user. Throws `LedgerError`, and whatever `words` throws.
  public func erase(
    _ user: String, as act: NewAuditEntry, _ words: ErasureNames
  ) throws -> Erasure? {
    var result: Erasure?
    defer { erased = nil }
    try access("clear what is deleted") { try $0.execute("pragma secure_delete = on") }
    try together("erase a person") {
      try visit("erase a person") { result = try erase(user, as: act, words, in: $0) }
    }
    return result
  }

  private func erase(
    _ user: String, as new: NewAuditEntry, _ words: ErasureNames, in database: Connection
  ) throws -> Erasure? {
    let known = try ErasedUsers(database)
    if known.has(pseudonym: user) {
      var result = Erasure(user)
      result.wasErased = true
      return result
    }
    let former = known.pseudonym(of: user)
    guard try former != nil || holds(user, in: database) else { return nil }
    let before = try SealedParts(of: Self.rewritten, in: database)
    var pseudonym = former ?? ""
    if former == nil {
      let person = ErasedUser(erasing: user)
      try person.write(to: database)
      pseudonym = person.pseudonym
    }
    var result = Erasure(pseudonym)
    result.wasErased = former != nil
    let others = try rewrite(user, words, in: database, &result)
    guard result.isChanged || former == nil else { return result }
    var act = new
    let parts = before.rewritings(until: try SealedParts(of: Self.rewritten, in: database))
    act.content = (result.lines + (parts + others).map(\.line)).joined(separator: "\n")
    try record(act)
    return result
  }

  /// Sealed tables of which rows can hold an id.
  private static let rewritten: Set = ["archive", "act", "break_episode", "decision", "erased"]

  /// Rewrites everything; gives the documents and acts among it.
  private func rewrite(
    _ user: String, _ words: ErasureNames, in database: Connection, _ result: inout Erasure
  ) throws -> [Rewriting] {
    let pseudonym = result.pseudonym
    let renaming = Renaming(id: user, name: pseudonym)
    let keys = (old: Fingerprint.of(user), new: Fingerprint.of(pseudonym))
    var lineages = ErasedLineages(database, words: symbols.words, renaming, keys: keys)
    try lineages.write()
    var snapshots = ErasedSnapshots(database, renaming, keys: keys)
    try snapshots.write()
    try rename(keys, pseudonym, in: database)
    var texts = ErasedTexts(database, renaming, id: user, pseudonym: pseudonym)
    var clues = lineages.clues
    clues.products = snapshots.products.union(symbols.words)
    try texts.writeBreaks(of: lineages.originals, lineages: Set(lineages.moved.values)) {
      words.breakID($0, $1, clues)
    }
    try texts.writeDecisions()
    try texts.writeArchives()
    let acts = try database.acts()
    let rewritings = Rewritings(acts)
    try texts.writeActs(acts, rewritings)
    let documents = try rewriteDecisions(in: database, rewritings) {
      try words.decisions($0, renaming, texts.breakIDs)
    }
    (result.lineages, result.versions) = (lineages.count, lineages.versions)
    result.decisions = texts.decisions
    (result.snapshots, result.breaks) = (snapshots.count, texts.breaks)
    (result.breakIDs, result.lostBreaks) = (texts.breakIDs, texts.lostBreaks)
    (result.archives, result.acts) = (texts.archives, Int64(texts.acts.count))
    result.documents = Int64(documents.count)
    return documents + texts.acts
  }

  private func holds(_ user: String, in database: Connection) throws -> Bool {
    let select = try database.statement("select id from user where key = ?")
    select.bind(1, Fingerprint.of(user))
    return try select.first { $0.text(0) == user } ?? false
  }

  private func rename(
    _ keys: (old: Int64, new: Int64), _ pseudonym: String, in database: Connection
  ) throws {
    let removal = try database.statement("delete from user where key = ?")
    removal.bind(1, keys.old)
    guard try removal.changedRow() else { return }
    var name = pseudonym
    try name.withUTF8 {
      try LineageWriter(database).keep(user: keys.new, id: UnsafeRawBufferPointer($0))
    }
  }

  /// Rewrites the decisions that runs followed; they keep the names that runs know.
  private func rewriteDecisions(
    in database: Connection, _ rewritings: Rewritings, _ rewritten: ([UInt8]) throws -> [UInt8]?
  ) throws -> [Rewriting] {
    let select = try Statement(
      database,
      """
      select sha256, body from document
      where sha256 in (select decisions from run) order by sha256
      """)
    let update = try Statement(database, "update document set body = ?2 where sha256 = ?1")
    var found: [(name: String, body: [UInt8])] = []
    try select.forEachRow { found.append(($0.text(0), Array($0.blob(1)))) }
    var documents: [Rewriting] = []
    for (name, body) in found {
      let old = rewritings.digest(ofDocument: name)
      guard let content = body.withUnsafeBytes({ Gzip.expand($0) }),
        sha256(of: content) == old
      else { throw LedgerError.damagedPerson("document \(name)") }
      guard let new = try rewritten(content) else { continue }
      update.bind(1, name)
      update.bind(2, blob: Gzip.compress(new))
      try update.run()
      documents.append(.document(name, old: old, new: sha256(of: new)))
    }
    return documents
  }
}
