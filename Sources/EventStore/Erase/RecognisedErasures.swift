internal import Domain

extension Ledger {
  /// Everybody who was erased, read once.
  func erasedUsers(in database: Connection) throws -> ErasedUsers {
    if let erased { return erased }
    let users = try ErasedUsers(database)
    erased = users
    return users
  }

  /// The batch with pseudonyms in the place of the ids of erased persons.
  func pseudonymised(_ batch: EventBatch, in database: Connection) throws -> EventBatch {
    let users = try erasedUsers(in: database)
    if users.isEmpty { return batch }
    var batch = batch
    for index in batch.events.indices where batch.events[index].user != 0 {
      let range = batch.texts[index].user
      let pseudonym = batch.arena.withUnsafeBytes {
        users.pseudonym(of: $0.slice(range), key: batch.events[index].user)
      }
      guard let pseudonym else { continue }
      batch.rename(index, to: pseudonym)
      recognised += 1
    }
    return batch
  }

  /// The snapshot with pseudonyms in the place of the ids of erased persons.
  func pseudonymised(_ snapshot: Snapshot, in database: Connection) throws -> Snapshot {
    let users = try erasedUsers(in: database)
    guard let pseudonym = users.pseudonym(of: snapshot.user) else { return snapshot }
    recognised += 1
    var snapshot = snapshot
    let renaming = Renaming(id: snapshot.user, name: pseudonym)
    snapshot.user = pseudonym
    snapshot.entitlements = snapshot.entitlements.map { $0.renamed(renaming) }
    return snapshot
  }

  /// Keeps whom `other` has erased erased in this ledger, too.
  public func adoptErasures(of other: Ledger) throws(LedgerError) {
    let users = try other.access("read whom it has erased") { try ErasedUser.all(in: $0) }
    try change("keep persons erased") { database in
      for user in users { try user.write(to: database) }
    }
    erased = nil
  }
}

extension EventBatch {
  /// Puts `pseudonym` in the place of the user's id, wherever ids of the event hold it.
  ///
  /// The identity stays: it is that of the line, however its user is called.
  mutating func rename(_ index: Int, to pseudonym: String) {
    let renaming = Renaming(id: text(texts[index].user), name: pseudonym)
    var text = texts[index]
    let original = text.original.count > 0 ? text.original : text.transaction
    let isWhole = text.original == text.transaction
    events[index].user = Fingerprint.of(pseudonym)
    text.user = intern(Array(pseudonym.utf8))
    if let renamed = renamed(text.transaction, renaming) {
      text.transaction = intern(renamed)
      events[index].transaction = renamed.withUnsafeBytes { transactionKey($0) }
    }
    if let renamed = renamed(original, renaming) {
      text.original = isWhole ? text.transaction : intern(renamed)
      let event = events[index]
      events[index].lineage = renamed.withUnsafeBytes {
        lineageKey(
          provider: event.provider, app: Fingerprint.of(symbols.words[Int(event.app)]),
          environment: event.environment, store: event.store, original: $0)
      }
    }
    texts[index] = text
  }

  private func renamed(_ range: TextRange, _ renaming: Renaming) -> [UInt8]? {
    arena.withUnsafeBytes { renaming.applied(toOwn: $0.slice(range)) }
  }

  private mutating func intern(_ bytes: [UInt8]) -> TextRange {
    bytes.withUnsafeBytes { intern($0) }
  }
}

extension Entitlement {
  /// The entitlement with another name for its user wherever ids hold it.
  func renamed(_ renaming: Renaming) -> Entitlement {
    var entitlement = self
    entitlement.id = renaming.applied(toOwn: id)
    entitlement.transactions = transactions.map { transaction in
      var transaction = transaction
      transaction.id = renaming.applied(toOwn: transaction.id)
      transaction.originalID = renaming.applied(toOwn: transaction.originalID)
      return transaction
    }
    return entitlement
  }
}
